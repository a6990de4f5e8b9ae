#!/bin/sh
# SPDX-License-Identifier: MIT
# The output of gpupool completions, in the shells themselves: each is asked
# what may follow the beginning of a command line.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
case $build in
/*) ;;
*) build=$root/$build ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mkdir "$work/here"
cd "$work/here" || exit 1
touch trace.json
failed=0

# What is typed | what must be offered, word by word.
cat > "$work/rows" << 'END'
gpupool re|replay record
gpupool replay --form|--format
gpupool replay --format |text json memory-summary html svg
gpupool replay --expand|--expandable-segments
gpupool replay --merge|--merge-streams
gpupool headroom --format |csv
gpupool replay --torch 2.1|2.15
gpupool replay --engine |caching torch
gpupool record --gpu h100|h100-80gb
gpupool sweep --set max_s|max_split_size_mb=
gpupool help wh|what-if
gpupool gen tra|transformer
gpupool completions z|zsh
gpupool --js|--json
gpupool trace.json --js|--json
END

cat > "$work/ask.bash" << 'END'
source "$1"
read -ra COMP_WORDS <<< "$2"
[[ $2 == *' ' ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { :; }
_gpupool
printf '%s\n' "${COMPREPLY[@]}"
END

# At a terminal, because zsh completes nowhere else. Ends when everything is
# there, or after ten seconds.
cat > "$work/ask.zsh" << 'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "autoload -Uz compinit && compinit -D -u; source $1; bindkey -e
LISTMAX=0; PROMPT=; stty -echo; echo be''gin"
while zpty -r shell line; do [[ $line == *begin* ]] && break; done
zpty -n -w shell "$2"$'\t\t'
for ((i = 0; i < 100; i++)); do
	while zpty -rt shell line; do said+=$line; done
	for word in ${=3}; do
		[[ $said == *${word#$4}* ]] || { sleep 0.1; continue 2 }
	done
	break
done
print -r -- $said
zpty -d shell
END

ask() {
	case $1 in
	bash) bash "$work/ask.bash" "$work/bash" "$2" ;;
	fish) fish -c "source $work/fish; complete -C \"$2\"" | cut -f 1 ;;
	# The part that is already typed is not typed again.
	zsh) zsh -f "$work/ask.zsh" "$work/zsh" "$2" "$3" "${2##* }" ;;
	esac
}

# For zsh, the screen; for the others, one word per line.
offers() {
	case $1 in
	zsh) grep -qF -e "${2#"$3"}" ;;
	*) grep -qxF -e "$2" ;;
	esac
}

check_rows() {
	while IFS='|' read -r typed words; do
		ask "$1" "$typed" "$words" > "$work/answer" 2>&1 < /dev/null
		for word in $words; do
			offers "$1" "$word" "${typed##* }" \
				< "$work/answer" && continue
			echo "$typed: no $word"
			head -n 3 "$work/answer"
		done
	done < "$work/rows"
}

flags_of_help() {
	"$build/gpupool" "$1" --help < /dev/null |
		sed -n 's/^  \(-., \)*\(--[a-z0-9-]*\).*/\2/p'
}

# Every flag in a command's help; and after --, none of ours.
check_flags() {
	"$build/gpupool" completions bash |
		sed -n 's/^\t\([a-z]*\))$/\1/p' > "$work/commands"
	[ -s "$work/commands" ] || echo "there are no commands"
	while read -r command; do
		ask bash "gpupool $command --" > "$work/offered"
		flags_of_help "$command" | grep -vxF -f "$work/offered" |
			sed "s/^/$command: no /"
	done < "$work/commands"
	ask bash 'gpupool record -- python --fo' | grep .
	ask bash 'gpupool replay --format = js' | grep -qx json ||
		echo "--format=js: no json"
}

verdict() {
	if [ -s "$work/said" ]; then
		echo "FAIL completions-$1"
		sed 's/^/	/' "$work/said" | head -n 40
		failed=1
	else
		echo "ok completions-$1"
	fi
}

for shell in bash zsh fish; do
	"$build/gpupool" completions "$shell" > "$work/$shell" || failed=1
	if ! command -v "$shell" > /dev/null; then
		echo "skip completions-$shell: there is no $shell on this machine"
		continue
	fi
	"$shell" -n "$work/$shell" > "$work/said" 2>&1
	check_rows "$shell" >> "$work/said"
	verdict "$shell"
done
if command -v bash > /dev/null; then
	check_flags > "$work/said"
	verdict flags
fi
exit "$failed"
