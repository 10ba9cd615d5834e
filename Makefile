# make            build ./sink: with OpenMP where the compiler has it, else the one plain line
# make run        the main job: three short trainings, one to three minutes on two cores
# make test       the tests                      make check     the propositions, in double precision
# make test-double, make asan                    the tests again: the oracle's precision; ASan and UBSan
# make mutants    fifty faults put into Part I and data/beyond.c, one at a time: a test must catch each
# make anywhere   the propositions and the tests under every compiler and processor at hand: hours
# make tables     every run of data/experiments.txt that is missing, on every core; TEXTS=FOLDER has books.txt
# make readme     data/results/README.md and the README's picture, from data/results
# make exhaustive the vector maths on every float, some minutes on every core
# make xref       every equation leads to a function and a test       make stats    lines and comments
# make book       Part I as a page to read beside the paper, out/book.html
CC = cc
CFLAGS = -O3
LDLIBS = -lm
STRICT = -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion
GRAMMAR = data/story.grammar

sink: sink.c sink.h
	@if $(CC) $(CFLAGS) -fopenmp sink.c -o sink $(LDLIBS) 2>/dev/null; \
	then echo "$(CC) $(CFLAGS) -fopenmp sink.c -o sink $(LDLIBS)    (every core)"; \
	else echo "$(CC) $(CFLAGS) sink.c -o sink $(LDLIBS)    (no OpenMP here: one core)"; \
	$(CC) $(CFLAGS) sink.c -o sink $(LDLIBS); fi

# Published models, and models as folders that Hugging Face's transformers loads:  ./hf export MODEL FOLDER
hf: data/hf.c data/families.c data/words.c data/pages.c data/known.c data/signs.c data/keys.h data/options.h data/unicode.h data/beyond.c sink.c sink.h
	@if $(CC) $(CFLAGS) -fopenmp data/hf.c -o hf $(LDLIBS) 2>/dev/null; then :; \
	else $(CC) $(CFLAGS) data/hf.c -o hf $(LDLIBS); fi

# Every table and figure of the paper:  ./paper list
paper: data/paper.c data/toys.c data/onset.c data/firstness.c data/remedies.c data/scale.c data/pages.c data/known.c data/signs.c data/options.h data/beyond.c sink.c sink.h
	@if $(CC) $(CFLAGS) -fopenmp data/paper.c -o paper $(LDLIBS) 2>/dev/null; then :; \
	else $(CC) $(CFLAGS) data/paper.c -o paper $(LDLIBS); fi

# Speed:  ./bench gemm, step, ops, length
bench: data/bench.c data/beyond.c sink.c sink.h
	@if $(CC) $(CFLAGS) -fopenmp data/bench.c -o bench $(LDLIBS) 2>/dev/null; then :; \
	else $(CC) $(CFLAGS) data/bench.c -o bench $(LDLIBS); fi

run: paper
	./paper run --force

out:
	mkdir -p out

# The tests, in double precision, the oracle, and in float: of sink.c, of paper.c, of hf.c. With
# OpenMP where the compiler has it, for the tests of threads.
TEST = $(CC) $(STRICT) -Wno-unused-function -O2 -o $@
out/test: test_sink.c data/options.h data/beyond.c sink.c sink.h | out
	$(TEST) -fopenmp test_sink.c $(LDLIBS) || $(TEST) test_sink.c $(LDLIBS)

out/test-double: test_sink.c data/options.h data/beyond.c sink.c sink.h | out
	$(TEST) -DSINK_DOUBLE -fopenmp test_sink.c $(LDLIBS) || \
	    $(TEST) -DSINK_DOUBLE test_sink.c $(LDLIBS)

out/test-paper: data/test_paper.c data/test_onset.c data/test_known.c data/test_signs.c data/paper.c data/toys.c data/onset.c data/firstness.c data/remedies.c data/scale.c data/pages.c data/known.c data/signs.c data/options.h data/beyond.c test_sink.c sink.c sink.h | out
	$(TEST) -DSINK_DOUBLE -fopenmp data/test_paper.c $(LDLIBS) || \
	    $(TEST) -DSINK_DOUBLE data/test_paper.c $(LDLIBS)

out/test-remedies: data/test_remedies.c data/options.h data/beyond.c test_sink.c sink.c sink.h | out
	$(TEST) -DSINK_DOUBLE -fopenmp data/test_remedies.c $(LDLIBS) || \
	    $(TEST) -DSINK_DOUBLE data/test_remedies.c $(LDLIBS)

out/test-hf: data/test_hf.c data/test_families.c data/hf.c data/families.c data/words.c data/pages.c data/known.c data/signs.c data/keys.h data/options.h data/unicode.h data/beyond.c test_sink.c sink.c sink.h | out
	$(TEST) -fopenmp data/test_hf.c $(LDLIBS) || $(TEST) data/test_hf.c $(LDLIBS)

SANE = $(CC) $(STRICT) -Wno-unused-function -O1 -g -fsanitize=address,undefined -fno-sanitize-recover
out/test-asan: test_sink.c data/options.h data/beyond.c sink.c sink.h | out
	$(SANE) -DSINK_DOUBLE test_sink.c -o $@ $(LDLIBS)

out/paper-double: data/paper.c data/toys.c data/onset.c data/firstness.c data/remedies.c data/scale.c data/pages.c data/known.c data/signs.c data/options.h data/beyond.c sink.c sink.h | out
	$(CC) $(CFLAGS) -DSINK_DOUBLE data/paper.c -o $@ $(LDLIBS)

test: sink paper hf bench out/test-double out/test out/test-paper out/test-remedies out/test-hf
	OMP_WAIT_POLICY=passive ./out/test-double
	OMP_WAIT_POLICY=passive ./out/test
	OMP_WAIT_POLICY=passive ./out/test-paper
	./out/test-remedies
	OMP_WAIT_POLICY=passive ./out/test-hf
	@if $(CC) -fsyntax-only -x c sink.h 2>/dev/null; then \
	  $(CC) -D__FLT_EVAL_METHOD__=2 -fsyntax-only -x c sink.h 2>&1 | \
	      grep "expected FLT_EVAL_METHOD 0" >/dev/null || \
	  { echo "sink.h does not refuse a float with further digits"; exit 1; }; fi

test-double: sink bench out/test-double
	OMP_WAIT_POLICY=passive ./out/test-double

asan: sink bench out/test-asan
	./out/test-asan

exhaustive: test_sink.c data/options.h data/beyond.c sink.c sink.h | out
	$(CC) $(CFLAGS) -fopenmp test_sink.c -o out/exhaustive $(LDLIBS) || \
	    $(CC) $(CFLAGS) test_sink.c -o out/exhaustive $(LDLIBS)
	./out/exhaustive exhaustive

# NAMES="tcc s390x" asks for these alone; sh data/anywhere.sh --list says which there are.
anywhere:
	sh data/anywhere.sh $(NAMES)

# Fifty one-line faults in Part I and data/beyond.c, each of which a test must catch; --seed N draws others.
mutants: | out
	sh data/mutants.sh

# The paper: hours. What is finished is never run again; without TEXTS, the shipped grammar alone.
tables: paper | out
	@{ [ -z "$(TEXTS)" ] || ./paper all --commands --threads 1 --texts "$(TEXTS)"; } > out/tables
	@./paper all --commands --threads 1 --corpus story >> out/tables
	@tr '\n' '\0' < out/tables | xargs -0 -r -P "$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)" -n 1 sh -c
	./paper all --show
	./paper report --force

readme: paper
	./paper readme
	./paper report --force --quiet
	awk -f data/picture.awk out/report.html > out/onset.svg && mv out/onset.svg data/results

check: out/paper-double
	./out/paper-double check

# The shipped vocabulary: TEXT="books.txt wiki.txt .." names English to train it on, beside 8 MB of the grammar.
tokenizer: sink
	./sink tokenize train $(TEXT) --grammar $(GRAMMAR) --vocab 2048 --out tokenizer.bin --force

# Six documents of every grammar, beside it, for a reader to look at.
samples: sink
	for g in data/*.grammar; do ./sink generate --grammar $$g --n 6 > $${g%.grammar}.txt || exit 1; done

# Tags stand in the masthead once, at a function (in sink.c or a companion), and at a test.
xref:
	@bad=0; code="sink.c data/paper.c data/scale.c data/hf.c"; tests="test_sink.c data/test_paper.c data/test_hf.c"; \
	for tag in $$(sed -n '/EQUATIONS/,/CONTENTS/p' sink.c | grep -o '\[[A-Z]*[0-9.]*\]' | sort -u); do \
	  n=$$(cat $$code | grep -cF "$$tag"); t=$$(cat $$tests | grep -cF "$$tag"); \
	  line=$$(grep -nF "$$tag" $$code | sed -n 2p | cut -d: -f1,2); \
	  printf '%-8s %2d places, first at %-18s in tests %d\n' "$$tag" $$((n-1)) "$$line" "$$t"; \
	  [ $$n -ge 2 ] && [ $$t -ge 1 ] || { echo "$$tag: an orphan"; bad=1; }; done; exit $$bad

# Part I for a browser, a phone or paper; each tag leads to its code, tests, checks and claims.
BOOK = data/book.html sink.c data/pages.c data/paper.c data/scale.c data/hf.c test_sink.c \
    data/test_paper.c data/test_hf.c data/results/README.md
book: out/book.html
out/book.html: data/book.awk $(BOOK) | out
	@awk -f data/book.awk $(BOOK) > $@.new && mv $@.new $@
	@echo "The book: $@"

stats:
	@awk -f data/stats.awk sink.c test_sink.c sink.h

clean:
	rm -rf out sink paper hf bench

.PHONY: run tables readme test test-double asan exhaustive anywhere mutants check tokenizer samples xref book \
    stats clean
