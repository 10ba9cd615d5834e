# One-line mutations of a C file: lists those that a seed draws, or prints the file with one.
#   awk -v seed=1 -v draws=90 -v to=6 -f data/check/mutate.awk FILE     a line each: K line N: KIND: old -> new
#   awk -v seed=1 -v draws=90 -v to=6 -v pick=K -f .. FILE        FILE with the K-th of them
# A draw takes one of the kinds of mutation, then one of its places, no place twice. The generator
# is Park and Miller's, whole in a double, so every awk draws alike. Only code of chapters 1 to `to`
# is touched: comments, strings, preprocessor lines and the lines of SKIP are not.

function add(kind, col, len, new) {                  # replace len characters of line NR at col
    n_of[kind]++
    if (n_of[kind] == 1) kinds[++n_kinds] = kind
    place[kind, n_of[kind]] = NR SUBSEP col SUBSEP len SUBSEP new
}
# Every match of the extended expression `re` in the code, its text old replaced by new.
function each(kind, re, old, new,    from, at, inner) {
    from = 1
    while (match(substr(code, from), re)) {
        at = from + RSTART - 1
        inner = index(substr(code, at, RLENGTH), old)
        if (inner) add(kind, at + inner - 1, length(old), new)
        from = at + (RLENGTH > 1 ? RLENGTH - 1 : 1)
    }
}
function random(n) { state = (state * 16807) % 2147483647; return 1 + state % n }

BEGIN {
    BORDER[1] = "<"; BORDER[2] = ">"; BORDER[3] = ">="; BORDER[4] = "<="
    n_names = split("i j|j i|N T|T N|C E|E C|H K|K H|lo hi|hi lo|b h|h b|a z|cosine sine",
                    names, "|")
    n_fields = split("->q ->k|->k ->q|->k ->v|->v ->k|->wq ->wk|->wv ->wk|.lo .hi|.hi .lo|"\
                     "->cosine ->sine|->sine ->cosine", fields, "|")
    # Lines that no mutation touches, by what they match, and why.
    SKIP["(^|[^a-z_])(fail|grab|snprintf|memcpy|memset|free|qsort)\\("]  # errors and memory: Part IV
    SKIP["e->status|sizeof"]                                            # the same
    SKIP["^ *(typedef|enum|PARALLEL|#)|^WIDE|^}"]                         # no statement
    SKIP["->threads|worker"]                 # any share of the work has the same bits
    SKIP["enum \\{|(CHANNELS|SLICE|PIECES)"]              # where work is cut: the same results
    SKIP["\"[^\"]*\", *\"[^\"]*\""]          # the table of variants: text
    SKIP["fabsf|exp_less_1|power [*]"]      # float's tanh, which double has not: test_kernels.c
    SKIP["->product\\(|seams\\.(embed|tables|block|block_backward|logits_backward)\\("] # of companions
    # Mutations that change no result, by a part of their line as it is printed, and why.
    EQUAL["-> if (distance <= 0)"] = "distance 0 has bucket 0"
    EQUAL["-> if (distance <= 16)"] = "16 is where the logarithm begins"
    EQUAL["-> matmul(B, k, transpose_of(A, k), rows_of(A, k)"] = "A is symmetric, bit for bit"
    EQUAL["-> matmul(B, k, rows_of(A, k), transpose_of(A, k)"] = "A is symmetric, bit for bit"
}
{
    text[NR] = $0
    code = ""                                         # the line, comments and strings blanked
    inside = was_inside
    for (i = 1; i <= length($0); i++) {
        c = substr($0, i, 1); two = substr($0, i, 2)
        if (inside == "*") { if (two == "*/") { inside = ""; code = code " "; i++ } c = " " }
        else if (inside == "\"" || inside == "'") {
            if (c == "\\") { code = code " "; i++ } else if (c == inside) inside = ""
            c = " "
        }
        else if (two == "/*") { inside = "*"; code = code " "; i++; c = " " }
        else if (c == "\"" || c == "'") { inside = c; c = " " }
        code = code c
    }
    was_inside = inside == "*" ? "*" : ""
    if ((before ~ /^( \* |\/\* )=+$/ && $0 ~ /^ \* [0-9]+  /) || $0 ~ /^ \* 1  Config/) chapter = $2
    before = $0
    whole = ended                                     # does a statement begin on this line?
    if (code ~ /[^ ]/) ended = code ~ /[;{}] *$/
    if (chapter < 1 || chapter > to || code !~ /[^ ]/ || $0 ~ /\\$/) next
    if (code !~ /^ /) next                            # declarations of functions and tables
    for (s in SKIP) if ((code " " $0) ~ s) next

    loop = code ~ /for \(/
    each("sign", " \\+ ", " + ", " - ")
    each("sign", "[A-Za-z0-9_)\\]] - ", " - ", " + ")
    each("sign", " \\+= ", " += ", " -= ")
    each("sign", "(= |\\(|\\? |: |return )-[A-Za-z(0-9]", "-", "")
    each("product", "[A-Za-z0-9_)\\]] \\* [A-Za-z(0-9]", " * ", " / ")
    each("product", " / ", " / ", " * ")
    each("product", " \\*= ", " *= ", " /= ")
    if (!loop) each("accumulate", " \\+= ", " += ", " = ")
    from = 1                                          # a factor dropped
    while (match(substr(code, from), / \* [A-Za-z_][A-Za-z_0-9]*(->[a-z0-9_]+)?[;,) ]/)) {
        add("factor", from + RSTART - 1, RLENGTH - 1, "")
        from += RSTART + RLENGTH - 2
    }
    # not the size of an array: one number more changes nothing
    if (code !~ /^ +(static |const )*(real|double|int|idx|char|bool) [A-Za-z_0-9, ]*\[/)
        each("index", "\\[[A-Za-z_][^][]*\\]", "[", "[1+")
    if (loop) each("start", "= 0;", "= 0;", "= 1;")
    each("truth", "[ (](true)[,);]", "true", "false")
    each("truth", "[ (](false)[,);]", "false", "true")
    each("transposed", "transpose_of\\(", "transpose_of(", "rows_of(")
    each("transposed", "rows_of\\(", "rows_of(", "transpose_of(")
    each("logic", " && ", " && ", " || ")
    each("logic", " \\|\\| ", " || ", " && ")
    each("logic", " == ", " == ", " != ")
    each("logic", " != ", " != ", " == ")
    # not where both sides are equal on the border: if (a < b) a = b, and a < b ? a : b
    if (!loop && code !~ /if \(([a-z.]+) [<>] [^)]*\) [a-z.]+ = / && code !~ /[<>] .* \? .* : /)
        for (b = 1; b <= 4; b++)
            each("border", "(^|[^A-Za-z_])(i|j|l|h|d|w|lo|hi|first|pair|step|distance|bucket) " \
                 BORDER[b] " ", " " BORDER[b] " ", " " BORDER[5 - b] " ")
    if (match(code, /if \([^()]*(\([^()]*\)[^()]*)*\)/))
        add("negated", RSTART, RLENGTH, "if (!" substr(code, RSTART + 3, RLENGTH - 3) ")")
    if (code ~ / INITIAL_[A-Z]+,/) {                      # the table of tensors: decayed or not
        each("constant", ", +1, ", "1", "0")
        each("constant", ", +0, ", "0", "1")
    }
    else each("constant", "[ (]1[ ;,).]", "1", "2")
    each("constant", "[ (]2[ ;,).]", "2", "3")
    each("constant", "[ (]0\\.[0-9]+", "0.", "1.")
    each("constant", "1e-[0-9]", "1e-", "2e-")
    for (p = 1; p <= n_names; p++) {
        split(names[p], ab, " ")
        each("name", "(^|[^A-Za-z_0-9.])" ab[1] "([^A-Za-z_0-9(]|$)", ab[1], ab[2])
    }
    for (p = 1; p <= n_fields; p++) {
        split(fields[p], ab, " ")
        each("name", ab[1] "[^A-Za-z_0-9]", ab[1], ab[2])
    }
    # a whole statement on one line, no declaration
    if (whole && code ~ /^ +[a-z][A-Za-z_0-9]*(->|\.|\[|\()[^;]*; *$/ &&
        code !~ /^ +(return|for|if|else|case|break)/)
        add("forgotten", 1, length(code), "    ;")
    if (whole && code ~ /^ +if \(.*[^ ;]; *$/) {
        match(code, /if/)
        add("forgotten", RSTART, 2, "if (0) if")
    }
}
END {
    state = seed * 7919 % 2147483646 + 1
    for (k = 1; k <= 10; k++) random(2)
    for (k = 1; k <= draws; k++) {
        kind = kinds[random(n_kinds)]
        while (n_of[kind] == 0 && tries++ < 1000) kind = kinds[random(n_kinds)]
        if (n_of[kind] == 0) exit
        x = random(n_of[kind])
        split(place[kind, x], at, SUBSEP)
        place[kind, x] = place[kind, n_of[kind]--]
        old = text[at[1]]
        new = substr(old, 1, at[2] - 1) at[4] substr(old, at[2] + at[3])
        if (pick == k) { text[at[1]] = new; for (i = 1; i <= NR; i++) print text[i] }
        if (!pick) {
            sub(/^ +/, "", old); sub(/^ +/, "", new)
            said = sprintf("%d line %d: %s: %s -> %s", k, at[1], kind, old, new)
            for (e in EQUAL) if (index(said, e)) said = said "    (equal: " EQUAL[e] ")"
            print said
        }
    }
    if (totals) for (k = 1; k <= n_kinds; k++) print kinds[k], n_of[kinds[k]]
}
