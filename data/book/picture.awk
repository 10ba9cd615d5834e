# picture.awk - data/results/onset.svg: the chart of the onset law (out/report/onset.html), which by
# itself needs a namespace, a style, a ground, a title and a key. The key's marks are the page's.
BEGIN {
    SAYS["norm"] = "norm 3 times the others'"
    SAYS["sink"] = "sink: twice even rows"
    SAYS["norm, unseen first"] = "norm, tokens never first"
    SAYS["sink, unseen first"] = "sink, tokens never first"
    SAYS["text's frequencies, sink"] = "sink, as often as in text"
    SAYS["natural text, sink"] = "sink, natural text"
    SAYS["the paper's sink"] = "sink, the paper's model"
}
/<h3>Tokens until the first token is known/ {
    on = 1
    high = rest = title = $0
    sub(/.*<svg viewBox="0 0 360 /, "", high); high += 0
    sub(/.*<svg viewBox="0 0 360 [0-9]+"/, "", rest)
    gsub(/.*<h3>|<\/h3>.*/, "", title)
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"540\" viewBox=\"0 -36 360 %d\"%s",
        high + 132, rest
    print "<style>text{font:11px sans-serif}.end{text-anchor:end}.middle{text-anchor:middle}" \
        ".line,.axis{fill:none}.band{fill-opacity:.2}.axis{stroke:#333}.rule{stroke:#ddd}" \
        ".title{font-weight:700}</style>"
    printf "<rect y=\"-36\" width=\"360\" height=\"%d\" fill=\"#fff\"/>\n", high + 132
    comma = index(title, ", ")
    say(2, -22, "title", substr(title, 1, comma))
    say(2, -8, "title", substr(title, comma + 2))
    next
}
on && /^<\/svg>/ {
    for (rest = $0; match(rest, /<span>/); rest = substr(rest, 7)) {
        rest = substr(rest, RSTART)
        mark = substr(rest, 1, index(rest, "</svg>") - 1)
        name = substr(rest, index(rest, "</svg>") + 7)
        sub(/<span><svg[^>]*>/, "", mark); sub(/<\/span>.*/, "", name)
        later = sub(/, later$/, "", name)
        if (later && name == "sink") open = mark
        if (!(name in SAYS)) exit                          # a mark without words: no picture
        if (!shown[name]++) key(mark, SAYS[name])
    }
    key(open, "open: not by a run's end")
    say(2, high + 90, "", "A mark is a run. Lines: fitted laws, with 95 % bands.")
    print "</svg>"
    done = 1
    exit
}
on {
    sub(/>N first tokens</, ">N, tokens that may stand first<")
    sub(/>million tokens</, ">million tokens of training<")
    print
}
function say(x, y, as, text) {
    printf "<text%s x=\"%d\" y=\"%d\">%s</text>\n", as == "" ? "" : " class=\"" as "\"", x, y, text
}
function key(mark, text,   x, y) {                         # two columns
    x = keys % 2 * 180; y = high + 16 + 18 * int(keys / 2); keys++
    printf "<g transform=\"translate(%d %d)\">%s</g>\n", x, y - 10, mark
    say(x + 30, y, "", text)
}
END { exit !done }
