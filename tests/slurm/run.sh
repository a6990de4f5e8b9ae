#!/bin/sh
# SPDX-License-Identifier: MIT
# A sweep split over three machines by Slurm: three slurmd on this one, a job
# array of three shards, and the merged parts, which must have the same bytes as
# the sweep that was not split.
#
#	ok NAME, FAIL NAME: WHY or skip NAME: WHY, as tests/run.sh counts them
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
program=$(cd "$root" && cd "${BUILD:-build}" && pwd)/gpupool
trace=$root/traces/recorded/opt-finetune-2.9.jsonl.gz
name=slurm/three_shards
patience=60 # seconds, for daemons to start and for jobs to end
nodes="n1 n2 n3"

skip() {
	echo "skip $name: $1"
	exit 0
}

fail() {
	echo "FAIL $name: $1"
	exit 1
}

PATH=$PATH:/usr/sbin:/sbin
for tool in munged slurmctld slurmd sbatch sinfo squeue scontrol; do
	command -v "$tool" > /dev/null ||
		skip "no $tool; apt install slurm-wlm munge"
done

work=$(mktemp -d)
chmod 755 "$work"

stop() {
	for pid in "$work"/*.pid; do
		[ -s "$pid" ] && kill "$(cat "$pid")" 2> /dev/null
	done
	sleep 1
	rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' INT TERM

# wait_for COMMAND...: until it succeeds.
wait_for() {
	for _ in $(seq $patience); do
		"$@" > /dev/null 2>&1 && return 0
		sleep 1
	done
	return 1
}

# What separates the daemons from others on this machine: their own key, socket,
# state folder and ports.
port=$((20000 + $$ % 20000))
user=$(id -un)

write_conf() {
	cat << END
ClusterName=gpupool$$
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool.%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
SlurmdParameters=config_overrides
ReturnToService=2
PartitionName=all Nodes=ALL Default=YES State=UP
END
	i=0
	for node in $nodes; do
		i=$((i + 1))
		echo "NodeName=$node NodeHostname=$(hostname -s)" \
			"NodeAddr=127.0.0.1 Port=$((port + i)) CPUs=1" \
			"State=UNKNOWN"
	done
}

start_munge() {
	umask 077
	head -c 128 /dev/urandom > "$work/munge.key"
	umask 022
	# The folder is temporary, in a place where others may write.
	munged --force --key-file="$work/munge.key" \
		--socket="$work/munge.socket" --pid-file="$work/munged.pid" \
		--log-file="$work/munged.log" --seed-file="$work/munge.seed" \
		> "$work/munged.out" 2>&1
}

are_idle() {
	[ "$(sinfo -h -N -o '%N %t' | grep -c ' idle$')" -eq 3 ]
}

is_over() {
	[ -z "$(squeue -h)" ]
}

start_slurm() {
	mkdir "$work/state"
	for node in $nodes; do
		mkdir "$work/spool.$node"
	done
	write_conf > "$work/slurm.conf"
	export SLURM_CONF="$work/slurm.conf"
	slurmctld -c > "$work/slurmctld.out" 2>&1 || return 1
	for node in $nodes; do
		slurmd -N "$node" -f "$SLURM_CONF" \
			> "$work/slurmd.$node.out" 2>&1 || return 1
	done
	wait_for are_idle
}

sweep() {
	"$program" sweep "$trace" --set max_split_size_mb=none,20,64,128 \
		--set roundup_power2_divisions=none,4,8 \
		--set expandable_segments=False,True --jobs 1 --quiet "$@"
}

# The job script of gpupool-sweep(1).
write_job() {
	cat << END
#!/bin/sh
#SBATCH --array=1-3 --ntasks=1 --exclusive --output=$work/job.%a.out
echo "\$SLURMD_NODENAME" > "$work/node.\$SLURM_ARRAY_TASK_ID"
sleep 2 # so that no machine is free for a second one
exec "$program" sweep "$trace" --set max_split_size_mb=none,20,64,128 \\
	--set roundup_power2_divisions=none,4,8 \\
	--set expandable_segments=False,True --jobs 1 --quiet \\
	--shard "\$SLURM_ARRAY_TASK_ID/3" -o "$work/part.\$SLURM_ARRAY_TASK_ID"
END
}

start_munge || skip "munged does not start here: $(tail -n 1 "$work/munged.out")"
start_slurm ||
	skip "Slurm does not start here: $(cat "$work"/slurm*.out "$work"/slurm*.log 2> /dev/null |
		grep -iE 'fatal|error' | head -n 1)"
write_job > "$work/job.sh"
cd "$work" || exit 1
sbatch --quiet "$work/job.sh" > "$work/sbatch.out" 2>&1 ||
	fail "sbatch: $(tail -n 1 "$work/sbatch.out")"
wait_for is_over || fail "the jobs do not end"
for i in 1 2 3; do
	[ -s "$work/part.$i" ] ||
		fail "shard $i wrote nothing: $(tail -n 1 "$work/job.$i.out")"
done
[ "$(sort -u "$work"/node.? | wc -l)" -eq 3 ] ||
	fail "the shards did not run on three machines"

for format in json csv text; do
	sweep --format $format -o "$work/whole.$format" ||
		fail "the sweep itself, as $format"
	"$program" merge "$work"/part.3 "$work"/part.1 "$work"/part.2 \
		--format $format -o "$work/merged.$format" ||
		fail "merge, as $format"
	cmp -s "$work/whole.$format" "$work/merged.$format" ||
		fail "the merged $format differs from the sweep's"
done
echo "ok $name"
