# make            build ./sink, on every core where OpenMP is    make paper, hf, bench: the companions
# make run        the main job: three short trainings, one to five minutes on two cores
# make test       the tests                      make check     the propositions, in double precision
# make test-double, make asan                    the tests again: the oracle's precision; ASan and UBSan
# make gradients FLAGS="--sim sigmoid --window 3"    the gradients of a model of these flags
# make mutants    sixty faults put into Part I and data/later, one at a time: a test must catch each
# make anywhere   the propositions and the tests under every compiler and processor at hand: hours
# make tables     every run of data/paper/experiments.txt that is missing; TEXTS=FOLDER has books.txt
# make readme     data/results: its pages and their pictures, from its runs
# make film       the README's picture: three trainings, one to three minutes
# make exhaustive the vector maths on every float, some minutes on every core
# make xref       every equation leads to a function and a test       make stats    lines and comments
# make book       Part I as a page to read beside the paper, out/book.html
# make puzzle     functions of Part I to write yourself; N=NAME begins one, make solve tries it
# make embed      a program that trains and measures from C, built and run
# make vectors    exact answers for kernels of attention with a sink, in out/vectors: data/check/vectors
# make clean      removes what make built; models stay, and the pages of run and report
CC = cc
CFLAGS = -O3
LDLIBS = -lm
STRICT = -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion
GRAMMAR = data/text/story.grammar
# What every companion includes, what two of them share, and what the tests are made of.
SINK = sink.c sink.h data/later/later.[ch] data/text/*.c data/paper/options.h data/paper/tables.c data/paper/resume.c
PAGES = data/paper/pages.c data/paper/drawn.c data/paper/known.c data/paper/signs.c data/paper/film.c data/paper/run.c
TESTED = test_sink.c $(SINK)

# -fopenmp if this compiler, with these flags, has OpenMP. The shell asks, as BSD's make has no $(shell).
OPENMP = `o=$$(mktemp) && printf '\043include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n' \
    | $(CC) $(CFLAGS) -fopenmp -x c - -x none -o "$$o" $(LDLIBS) 2>/dev/null && echo -fopenmp; rm -f "$$o"`

sink: sink.c sink.h
	@o=$(OPENMP); n="every core"; [ "$$o" ] || n="no OpenMP here: one core"; \
	echo "$(CC) $(CFLAGS) $$o sink.c -o sink $(LDLIBS)    ($$n)"; $(CC) $(CFLAGS) $$o sink.c -o sink $(LDLIBS)

# Published models, and models as folders that Hugging Face's transformers loads:  ./hf export MODEL FOLDER
hf: data/models/*.[ch] $(PAGES) $(SINK)
	@$(CC) $(CFLAGS) $(OPENMP) data/models/hf.c -o hf $(LDLIBS)

# Every table and figure of the paper:  ./paper list
paper: data/paper/*.[ch] $(SINK)
	@$(CC) $(CFLAGS) $(OPENMP) data/paper/paper.c -o paper $(LDLIBS)

# Speed:  ./bench gemm, step, ops, length
bench: data/check/bench.c sink.c sink.h
	@$(CC) $(CFLAGS) $(OPENMP) data/check/bench.c -o bench $(LDLIBS)

# Attention by its vectors, for those who write kernels:  data/check/vectors/README.md
vectors: data/check/vectors.c $(SINK)
	@mkdir -p out
	$(CC) $(CFLAGS) data/check/vectors.c -o out/vectors-made $(LDLIBS)
	rm -rf out/vectors
	./out/vectors-made --out out/vectors

run: paper
	./paper run --force

out:
	mkdir -p out

# The tests, in double precision, the oracle, and in float: the mathematics of sink.c, the program
# and its text, paper.c, hf.c. With OpenMP where the compiler has it, for the tests of threads.
TEST = @echo $@; $(CC) $(STRICT) -Wno-unused-function -O2 -o $@
CHECK = data/check/harness.c data/check/golden.c data/check/programs.c $(TESTED)
out/test: $(CHECK) | out
	$(TEST) $(OPENMP) test_sink.c $(LDLIBS)

out/test-double: $(CHECK) | out
	$(TEST) -DSINK_DOUBLE $(OPENMP) test_sink.c $(LDLIBS)

out/test-paper: data/check/*.c data/paper/*.[ch] $(CHECK) | out
	$(TEST) -DSINK_DOUBLE $(OPENMP) data/check/test_paper.c $(LDLIBS)

out/test-later: data/later/test_later.c $(CHECK) | out
	$(TEST) -DSINK_DOUBLE $(OPENMP) data/later/test_later.c $(LDLIBS)

out/test-hf: data/check/*.c data/models/*.[ch] $(PAGES) $(CHECK) | out
	$(TEST) $(OPENMP) data/check/test_hf.c $(LDLIBS)

# Every pair of rows, programs and files, text, the machine's arithmetic: out/test-rows,
# out/test-program and so on, and in double out/test-rows-double .. out/test-source runs ./paper.
CHECKS = rows program text kernels
out/test-rows out/test-rows-double out/test-rows-asan: data/check/rows.c data/check/ablated.c \
    data/models/*.[ch] $(PAGES)
$(CHECKS:%=out/test-%) out/test-source: out/test-%: data/check/test_%.c $(CHECK) | out
	$(TEST) $(OPENMP) $< $(LDLIBS)

$(CHECKS:%=out/test-%-double): out/test-%-double: data/check/test_%.c $(CHECK) | out
	$(TEST) -DSINK_DOUBLE $(OPENMP) $< $(LDLIBS)

SANE = $(CC) $(STRICT) -Wno-unused-function -Og -g1 -fsanitize=address,undefined -fno-sanitize-recover
out/test-asan: $(CHECK) | out
	$(SANE) -DSINK_DOUBLE test_sink.c -o $@ $(LDLIBS)

$(CHECKS:%=out/test-%-asan): out/test-%-asan: data/check/test_%.c $(CHECK) | out
	$(SANE) -DSINK_DOUBLE $< -o $@ $(LDLIBS)

out/paper-double: data/paper/*.[ch] $(SINK) | out
	$(CC) $(CFLAGS) -DSINK_DOUBLE data/paper/paper.c -o $@ $(LDLIBS)

# What a program of one's own looks like: it trains, and must find a sink on token 1.
out/embed: data/check/embed.c sink.c sink.h | out
	$(CC) $(CFLAGS) data/check/embed.c -o $@ $(LDLIBS)

embed: out/embed
	./out/embed | LC_ALL=C awk -F '[ =]' '{ print } $$4 > 0.2 && $$6 > 0.1 { good = 1 } END { exit !good }'

# Here the programs of CHECKS run ./sink, ./bench and ./paper, whose numbers are floats, in their
# float build alone.
test: sink paper hf bench embed out/test-double out/test out/test-paper out/test-later out/test-hf \
    $(CHECKS:%=out/test-%) $(CHECKS:%=out/test-%-double) out/test-source
	OMP_WAIT_POLICY=passive ./out/test-double
	OMP_WAIT_POLICY=passive ./out/test
	for t in $(CHECKS); do OMP_WAIT_POLICY=passive ./out/test-$$t-double -sink__ -bench__ && \
	    OMP_WAIT_POLICY=passive ./out/test-$$t || exit 1; done
	OMP_WAIT_POLICY=passive ./out/test-source
	OMP_WAIT_POLICY=passive ./out/test-paper
	./out/test-later
	OMP_WAIT_POLICY=passive ./out/test-hf
	@if $(CC) -fsyntax-only -x c sink.h 2>/dev/null; then \
	  $(CC) -D__FLT_EVAL_METHOD__=2 -fsyntax-only -x c sink.h 2>&1 | \
	      grep "expected FLT_EVAL_METHOD 0" >/dev/null || \
	  { echo "sink.h does not refuse a float with further digits"; exit 1; }; fi

test-double: sink paper hf bench out/test-double $(CHECKS:%=out/test-%-double)
	OMP_WAIT_POLICY=passive ./out/test-double
	for t in $(CHECKS); do ./out/test-$$t-double || exit 1; done

asan: sink paper hf bench out/test-asan $(CHECKS:%=out/test-%-asan)
	./out/test-asan
	for t in $(CHECKS); do ./out/test-$$t-asan || exit 1; done

# Finite differences of one model over 7 and 70 tokens, for those who change a formula. A new row first needs
# its place in the two row counts of test_sink.c.
gradients: out/test-double
	@SINK_FLAGS="$(FLAGS)" ./out/test-double gradients__every_variant gradients__tiles

exhaustive: data/check/test_kernels.c $(CHECK) | out
	$(CC) $(CFLAGS) -fopenmp $< -o out/exhaustive $(LDLIBS) || \
	    $(CC) $(CFLAGS) $< -o out/exhaustive $(LDLIBS)
	./out/exhaustive exhaustive

# NAMES="tcc s390x" asks for these alone; sh data/check/anywhere.sh --list says which there are.
anywhere:
	sh data/check/anywhere.sh $(NAMES)

# Fifty one-line faults in Part I and ten in data/later, each of which a test must catch; --seed N
# draws others.
mutants: | out
	sh data/check/mutants.sh
	sh data/check/mutants.sh --later --count 10

# The paper: hours. What is finished is never run again; without TEXTS, the shipped grammar alone.
tables: paper | out
	@./paper all --commands --parts out/parts --threads 1 --corpus story > out/tables
	@[ -z "$(TEXTS)" ] || for corpus in books long; do \
	    ./paper all --commands --parts out/parts --threads 1 --corpus $$corpus --texts "$(TEXTS)" || exit; \
	done >> out/tables
	@tr '\n' '\0' < out/tables | xargs -0 -r -P "$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)" -n 1 sh -c
	./paper all --show
	./paper report --force

readme: paper
	./paper readme
	./paper report --force --quiet
	awk -f data/book/picture.awk out/report/onset.html > out/onset.svg && mv out/onset.svg data/results

film: paper
	./paper film --out data/results/film.svg --force

check: out/paper-double
	./out/paper-double check

# The shipped vocabulary: TEXT="books.txt wiki.txt .." names English to train it on, beside 8 MB of the grammar.
tokenizer: paper
	./paper tokenize train $(TEXT) --grammar $(GRAMMAR) --vocab 2048 --out tokenizer.bin --force

# The shipped text, 8 MB that the grammar tells; and six documents of every grammar, beside it, for a reader.
stories: paper | out
	./paper generate --grammar $(GRAMMAR) --n 4489 > out/made && mv out/made data/text/stories.txt

samples: paper | out
	for g in data/text/*.grammar; do ./paper generate --grammar $$g --n 6 > out/made && mv out/made $${g%.grammar}.txt || exit 1; done

# Tags stand in the masthead once, at a function (in sink.c or a companion), and at a test.
TAGGED = sink.c data/paper/pages.c data/paper/experiments.c data/paper/toys.c data/paper/train.c \
    data/paper/verdicts.c data/paper/shown.c data/paper/pictures.c data/paper/statements.c \
    data/paper/command.c data/paper/scale.c data/paper/drawn.c data/models/stored.c data/models/mixers.c \
    data/models/facts.c data/models/choices.c data/models/measured.c
xref:
	@bad=0; k=0; code="$(TAGGED)"; tests="test_sink.c $$(echo data/check/test_*.c)"; \
	for tag in $$(sed -n '/EQUATIONS/,/WHERE TO CHANGE/p' sink.c | grep -o '\[[A-Z]*[0-9.]*\]' | sort -u); do \
	  k=$$((k+1)); \
	  n=$$(cat $$code | grep -cF "$$tag"); t=$$(cat $$tests | grep -cF "$$tag"); \
	  line=$$(grep -nF "$$tag" $$code | sed -n 2p | cut -d: -f1,2); \
	  printf '%-8s %2d places, first at %-18s in tests %d\n' "$$tag" $$((n-1)) "$$line" "$$t"; \
	  [ $$n -ge 2 ] && [ $$t -ge 1 ] || { echo "$$tag: an orphan"; bad=1; }; done; \
	[ $$k -ge 45 ] || { echo "expected 45 tags or more, found $$k"; bad=1; }; exit $$bad

# Part I for a browser, a phone or paper; each tag leads to its code, tests, checks and claims.
BOOK = data/book/book.html data/book/puzzles.txt $(TAGGED) test_sink.c data/check/test_rows.c \
    data/check/test_program.c data/check/test_text.c data/check/test_paper.c data/check/test_hf.c \
    $(wildcard data/results/pages/*.md)
book: out/book.html
out/book.html: data/book/book.awk data/book/typeset.awk $(BOOK) | out
	@awk -f data/book/typeset.awk -f data/book/book.awk $(BOOK) > $@.new && mv $@.new $@
	@echo "The book: $@"

# Functions of Part I to write yourself: N=NAME begins one in out/puzzle.c; FORCE=1 gives up what stands there.
puzzle:
	@sh data/book/puzzle.sh $(N) $(if $(FORCE),--force)

solve:
	@CC="$(CC)" sh data/book/puzzle.sh --solve

test-puzzles:
	CC="$(CC)" sh data/check/test_puzzles.sh

stats:
	@awk -f data/check/stats.awk sink.c test_sink.c sink.h

# What make made, by its name: out/ may hold models that took hours.
MADE = sink paper hf bench out/vectors-made out/embed out/test out/test-double out/test-paper out/test-later out/test-hf \
    out/test-asan out/test-source $(CHECKS:%=out/test-%) $(CHECKS:%=out/test-%-double) $(CHECKS:%=out/test-%-asan) \
    out/paper-double out/exhaustive out/book.html out/tables out/solve out/solve.log
clean:
	rm -f $(MADE)
	rm -rf out/files_float out/files_double out/mutants out/anywhere out/puzzles out/vectors
	@[ ! -d out ] || rmdir out 2>/dev/null || echo "out/ keeps models and pages"

.PHONY: run tables readme film embed test test-double asan gradients exhaustive anywhere mutants check tokenizer stories samples xref book \
    vectors puzzle solve test-puzzles stats clean
