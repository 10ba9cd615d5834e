# picture.awk - README.md's picture: the page's chart of the onset law (out/report.html), which by
# itself needs a namespace, a style, a ground and a legend.
/<h3>Tokens until the first token is known/ {
    on = 1
    high = rest = $0
    sub(/.*<svg viewBox="0 0 360 /, "", high); high += 0
    sub(/.*<svg viewBox="0 0 360 [0-9]+"/, "", rest)
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"540\" viewBox=\"0 0 360 %d\"%s", high + 48, rest
    print "<style>text{font:11px sans-serif}.end{text-anchor:end}.middle{text-anchor:middle}" \
        ".line,.axis{fill:none}.band{fill-opacity:.2}.axis{stroke:#333}.rule{stroke:#ddd}</style>"
    printf "<rect width=\"360\" height=\"%d\" fill=\"#fff\"/>\n", high + 48
    next
}
on && /^<\/svg>/ {
    legend(1, "A mark is a run; open with an arrow: not by its end. Circles:")
    legend(2, "norm; squares: sink; triangles, diamonds: on tokens never first.")
    legend(3, "Cross: natural text. Grey: the paper. Lines: laws, 95 % bands.")
    print "</svg>"
    done = 1
    exit
}
on
function legend(line, text) {
    printf "<text x=\"2\" y=\"%d\">%s</text>\n", high + 2 + 14 * line, text
}
END { exit !done }
