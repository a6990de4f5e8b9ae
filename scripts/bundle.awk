# SPDX-License-Identifier: MIT
# Puts ES modules into one script, for a page that is one file:
#
#	awk -f scripts/bundle.awk a.js b.js main.js
#
# A module stands behind those that it imports.  Each becomes a function of its
# own, so that names need not differ; what it exports are the members of an
# object.  Imports and exports begin a line, as they do in our modules, and
# export declarations, not lists.

function module_of(path) {
	sub(/.*\//, "", path)
	sub(/\.js$/, "", path)
	gsub(/[^A-Za-z0-9]/, "_", path)
	return "module_" path
}

function end_module() {
	if (name)
		print "return {" exports " };\n})();"
}

FNR == 1 {
	end_module()
	name = module_of(FILENAME)
	exports = ""
	print "const " name " = (() => {\n\"use strict\";"
}

/^import / { gathered = "" ; importing = 1 }

importing {
	gathered = gathered " " $0
	if ($0 !~ /;[ \t]*$/)
		next
	importing = 0
	names = gathered
	sub(/^[^{]*\{/, "", names)
	sub(/\}.*/, "", names)
	gsub(/ as /, ": ", names)
	from = gathered
	sub(/.* from "/, "", from)
	sub(/".*/, "", from)
	print "const {" names "} = " module_of(from) ";"
	next
}

/^export / {
	line = $0
	sub(/^export /, "", line)
	print line
	sub(/^async /, "", line)
	sub(/^(function\*?|class|const|let) /, "", line)
	sub(/[^A-Za-z0-9_$].*/, "", line)
	exports = exports (exports ? ", " : " ") line
	next
}

{ print }

END { end_module() }
