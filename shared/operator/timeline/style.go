package timeline

import "fmt"

// The colours of a page, in daylight and on paper, and on a dark screen: text and lines have a
// contrast of 4.5 to 1 and more with the ground that they stand on, shapes of 3 to 1.
const (
	light = "--ink:#1f2328;--dim:#57606a;--ground:#fff;--track:#eef0f2;--rule:#c9ced4;" +
		"--alarm:#a4161f;--link:#0b57a4;--inside:#fff"
	dark = "--ink:#e6e8eb;--dim:#a8b0b9;--ground:#16181c;--track:#272b31;--rule:#454b54;" +
		"--alarm:#ff9a92;--link:#8ab8ff;--inside:#10131a"
)

// layout is for screens from a phone's to a desk's, and for paper.
const layout = `body{font:14px/1.45 system-ui,sans-serif;color:var(--ink);` +
	`background:var(--ground);max-width:1240px;margin:24px auto;padding:0 16px}
h1{font-size:22px;margin:0 0 4px}h2{font-size:17px;margin:36px 0 2px}
p{margin:2px 0 10px;color:var(--dim)}
a{color:var(--link)}:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.wide{overflow-x:auto}.back{font-size:12px}
table{border-collapse:collapse;margin:14px 0}
th,td{padding:4px 14px 4px 0;border-bottom:1px solid var(--rule);text-align:left;vertical-align:top}
td:first-child{white-space:nowrap}td:last-child{min-width:11em}
td:nth-child(2):not(.number){min-width:8em}
.number{text-align:right;font-variant-numeric:tabular-nums}
tr.alarm td{color:var(--alarm);font-weight:600}
svg{display:block;width:100%;min-width:1000px;height:auto}section{break-inside:avoid}
text{fill:var(--ink)}.dim{fill:var(--dim)}.inside{fill:var(--inside)}
.loud{fill:var(--alarm)}.track{fill:var(--track)}
.rule{stroke:var(--rule)}.mark{stroke:var(--ink);stroke-dasharray:3 3}
.curve{fill:none;stroke:var(--ink);stroke-width:1.3}
.band{fill:var(--alarm);fill-opacity:.14;stroke:var(--alarm);stroke-width:1;pointer-events:none}
@media(max-width:600px){body{margin:12px auto;padding:0 10px}h1{font-size:19px}
td:first-child{white-space:normal;min-width:6.5em}}
@media print{body{max-width:none;margin:0}.back{display:none}.wide{overflow:visible}
svg{min-width:0}table{font-size:11px}th,td{padding-right:8px}
a{color:inherit;text-decoration:none}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}`

// style is the page's style sheet. A dark screen gets dark colours, paper never does.
func style() string {
	bright, night, shapes := light, dark, ""
	for i, t := range tones {
		bright += fmt.Sprintf(";--tone-%d:%s", i, t.colour)
		night += fmt.Sprintf(";--tone-%d:%s", i, t.dark)
		shapes += fmt.Sprintf(".tone-%d{fill:var(--tone-%d)}", i, i)
	}
	return fmt.Sprintf(":root{color-scheme:light dark;%s}\n"+
		"@media screen and (prefers-color-scheme:dark){:root{%s}}\n%s\n%s",
		bright, night, layout, shapes)
}
