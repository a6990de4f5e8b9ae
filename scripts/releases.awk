# SPDX-License-Identifier: MIT
# A table in CSV, of gpupool sweep over releases, to one row where they differ:
# which releases reserve how much.  -v trace=NAME -v settings=CONF
BEGIN { FS = "," }
NR == 1 {
	for (i = 1; i <= NF; i++)
		column[$i] = i
	next
}
{
	# The conf is quoted, and may have commas: count from the end.
	minor = $0
	sub(/.*",2\./, "", minor)
	split(minor, rest, ",")
	if (rest[4] == "")
		next # not a setting of that release
	most = rest[1] > most ? rest[1] : most
	peak[rest[1] + 0] = rest[4] / 1048576
	ooms[rest[1] + 0] = rest[8]
}
function told(from, to) {
	text = text (text ? "; " : "") "2." from
	text = text (to > from ? " to 2." to : "")
	text = text sprintf(": %.1f MiB", peak[from])
	if (ooms[from] > 0)
		text = text sprintf(", %d OOMs", ooms[from])
}
END {
	first = -1
	for (i = 0; i <= 99; i++) {
		if (!(i in peak))
			continue
		if (first < 0)
			first = i
		else if (peak[i] != peak[last] || ooms[i] != ooms[last]) {
			told(first, last)
			first = i
			differ = 1
		}
		last = i
	}
	if (first >= 0)
		told(first, last)
	print (differ ? "| " trace " | " (settings ? settings : "default") " | " text " |" : "same")
}
