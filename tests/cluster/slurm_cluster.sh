#!/usr/bin/env bash
# A real Slurm of two small nodes on the loopback of one machine, with accounting, to be thrown away.
#
#   slurm_cluster.sh install             install Debian's packages, as root
#   slurm_cluster.sh start               start munged, mariadbd, slurmdbd, slurmctld and two slurmd
#   slurm_cluster.sh stop                cancel the jobs, and end every process of the cluster
#   slurm_cluster.sh status              list the daemons and the nodes
#   slurm_cluster.sh start-one DAEMON    such as slurmd-n1
#   slurm_cluster.sh stop-one DAEMON [SIGNAL]
#
# It owns a folder, $SLURM_TEST_ROOT or a temporary one, that holds all there is (key, sockets, spool,
# logs, database), and one link, by which every command of Slurm finds its configuration; so there is
# one such cluster on a machine at a time. It needs no systemd, and ends no process by its name: a
# daemon by its number and start, a job by its environment.
set -euo pipefail

PACKAGES=(slurmctld slurmd slurmdbd slurm-client munge mariadb-server)
NODES=(n1 n2)
CPUS=2         # of each node, more than the machine may have
MEMORY=4000    # MB of each node
BASE=16810     # the first of the ports
LINK=/run/slurm/conf/slurm.conf
export PATH=$PATH:/usr/sbin:/sbin

say() { echo "slurm_cluster: $*" >&2; }

# The folder of the cluster that the link leads to, running or dead.
linked() { if [ -L $LINK ]; then dirname "$(dirname "$(readlink $LINK)")"; fi; }

place() {
  ROOT=$1 CONF=$1/etc/slurm.conf PIDS=$1/pids LOG=$1/log SOCKET=$1/run/munge.sock
  export SLURM_CONF=$CONF
}

install() {
  if dpkg -s "${PACKAGES[@]}" >/dev/null 2>&1; then return; fi
  # No service of a package may start, with systemd or without.
  printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
  chmod 755 /usr/sbin/policy-rc.d
  trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${PACKAGES[@]}"
}

# Processes.

start_time() { awk '{sub(/^.*\) /, ""); print $20}' "/proc/$1/stat" 2>/dev/null || true; }

# Tell whether a daemon, of this number and this start, is there and no zombie.
alive() {
  local pid start
  [ -s "$PIDS/$1" ] && read -r pid start <"$PIDS/$1" && [ "$(start_time "$pid")" = "$start" ] &&
    ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null
}

any_alive() {
  local file
  for file in "$PIDS"/*; do alive "${file##*/}" && return; done
  return 1
}

spawn() { # DAEMON COMMAND...
  local name=$1 pid
  shift
  setsid "$@" </dev/null >>"$LOG/$name.out" 2>&1 &
  pid=$!
  sleep 0.05
  echo "$pid $(start_time $pid)" >"$PIDS/$name"
}

stop_one() { # DAEMON [SIGNAL]
  local pid start
  if alive "$1"; then
    read -r pid start <"$PIDS/$1"
    kill -s "${2:-TERM}" "$pid" || true
    if ! within 20 gone "$1"; then
      kill -s KILL "$pid" || true
      within 5 gone "$1"
    fi
  fi
  rm -f "$PIDS/$1"
}

gone() { ! alive "$1"; }

within() { # SECONDS COMMAND...
  local until=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $until ] || return 1
    sleep 0.1
  done
}

await() { # SECONDS DAEMON COMMAND...
  within "$1" "${@:3}" && return
  say "$2 is not there after $1 s"
  tail -n 20 "$LOG"/* >&2
  exit 1
}

# List the processes of jobs, which have the name of this cluster in their environment.
strays() {
  local file
  for file in $(grep -lzsx "SLURM_CLUSTER_NAME=$(cluster_name)" /proc/[0-9]*/environ); do
    file=${file#/proc/}
    echo "${file%/environ}"
  done
}

# Configuration.

# Other folders have clusters of other names.
cluster_name() { echo "test$(printf %s "$ROOT" | cksum | cut -d ' ' -f 1)"; }

configure() {
  local i
  mkdir -p "$ROOT"/{etc,log,pids,run,state}
  [ -s "$ROOT/etc/munge.key" ] ||
    (umask 077 && head -c 1024 /dev/urandom >"$ROOT/etc/munge.key")
  cat >"$CONF" <<END
ClusterName=$(cluster_name)
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$((BASE + 1))
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$SOCKET
# Nothing listens where another machine could reach it.
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation=$ROOT/state
SlurmctldPidFile=$ROOT/run/slurmctld.pid
SlurmctldLogFile=$LOG/slurmctld.log
SlurmdPidFile=$ROOT/run/%n.pid
SlurmdLogFile=$LOG/slurmd-%n.log
SlurmdSpoolDir=$ROOT/run/spool-%n
# A node of two CPUs, whatever the machine has.
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=bf_interval=2,sched_interval=2,batch_sched_delay=0,default_queue_depth=1000
# A job that takes more memory than it asked for is killed, with no need of cgroups.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill,UsePss
# A node that does not answer is down soon; an ended job is remembered longer than anybody waits.
SlurmdTimeout=10
ReturnToService=2
MinJobAge=3600
KillWait=2
UnkillableStepTimeout=300
MessageTimeout=10
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((BASE + 2))
AccountingStoragePass=$SOCKET
# A job under an account that is not there is refused.
AccountingStorageEnforce=associations
# What a job is for is told to accounting too.
AccountingStoreFlags=job_comment
PartitionName=main Nodes=ALL Default=YES DefaultTime=10 MaxTime=120 State=UP
END
  for i in "${!NODES[@]}"; do
    echo "NodeName=${NODES[i]} NodeHostname=$(hostname -s) NodeAddr=127.0.0.1" \
      "Port=$((BASE + 10 + i)) CPUs=$CPUS RealMemory=$MEMORY"
  done >>"$CONF"
  (umask 077 && cat >"$ROOT/etc/slurmdbd.conf") <<END
AuthType=auth/munge
AuthInfo=socket=$SOCKET
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$((BASE + 2))
CommunicationParameters=NoInAddrAny
SlurmUser=root
PidFile=$ROOT/run/slurmdbd.pid
LogFile=$LOG/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$((BASE + 3))
StorageUser=slurm
StoragePass=slurm
END
}

# Daemons.

database() { mariadb --no-defaults -uroot -S "$ROOT/run/db.sock" -e "$1"; }

start_one() { # DAEMON
  alive "$1" && return
  case $1 in
  munged)
    spawn munged munged --foreground --key-file="$ROOT/etc/munge.key" --socket="$SOCKET" --force \
      --pid-file="$ROOT/run/munged.pid" --log-file="$LOG/munged.log" --seed-file="$ROOT/run/seed"
    await 10 munged munge -n -S "$SOCKET" ;;
  mariadbd)
    [ -d "$ROOT/db" ] || mariadb-install-db --no-defaults --user=root --datadir="$ROOT/db" \
      --auth-root-authentication-method=normal --skip-test-db >"$LOG/install-db.out" 2>&1
    spawn mariadbd mariadbd --no-defaults --user=root --datadir="$ROOT/db" \
      --socket="$ROOT/run/db.sock" --pid-file="$ROOT/run/mariadbd.pid" --bind-address=127.0.0.1 \
      --port=$((BASE + 3)) --innodb-buffer-pool-size=64M --innodb-flush-log-at-trx-commit=2
    await 30 mariadbd database "SELECT 1"
    database "CREATE OR REPLACE USER slurm@localhost IDENTIFIED BY 'slurm'; GRANT ALL ON *.* TO slurm@localhost" ;;
  slurmdbd)
    spawn slurmdbd slurmdbd -D
    await 40 slurmdbd sacctmgr -n list cluster ;;
  slurmctld)
    spawn slurmctld slurmctld -D
    await 30 slurmctld scontrol ping ;;
  slurmd-*)
    mkdir -p "$ROOT/run/spool-${1#slurmd-}"
    spawn "$1" slurmd -D -N "${1#slurmd-}" ;;
  *)
    say "no daemon is called '$1'"
    exit 2 ;;
  esac
}

all_idle() { [ "$(sinfo -h -N -o '%T' | grep -c '^idle$')" = ${#NODES[@]} ]; }

start() {
  local other node
  other=$(linked)
  if [ -n "$other" ] && (place "$other" && any_alive); then
    say "a cluster runs in $other already, and a machine has one at a time; end it: $0 stop"
    exit 1
  fi
  if [ -e /etc/slurm/slurm.conf ] || { [ -e $LINK ] && [ ! -L $LINK ]; }; then
    say "this machine belongs to a Slurm (/etc/slurm/slurm.conf or $LINK is there); use another"
    exit 1
  fi
  place "${SLURM_TEST_ROOT:-$(mktemp -d)}"
  configure
  mkdir -p "$(dirname $LINK)"
  ln -sfn "$CONF" $LINK
  start_one munged
  start_one mariadbd
  start_one slurmdbd
  sacctmgr -iQ add cluster "$(cluster_name)" >"$LOG/sacctmgr.out" || true
  sacctmgr -iQ add account test >>"$LOG/sacctmgr.out" || true
  sacctmgr -iQ add user root account=test >>"$LOG/sacctmgr.out" || true
  start_one slurmctld
  for node in "${NODES[@]}"; do start_one "slurmd-$node"; done
  await 60 "a node" all_idle
  say "up in $ROOT after $SECONDS s"
}

empty() { [ -z "$(squeue -h)" ]; }

stop() {
  local node pid
  if alive slurmctld; then
    scancel -u root || true
    within 10 empty || true
  fi
  for node in "${NODES[@]}"; do stop_one "slurmd-$node"; done
  # Where a node was lost, its jobs go on without it.
  for pid in $(strays); do kill -s KILL "$pid" 2>/dev/null || true; done
  for daemon in slurmctld slurmdbd mariadbd munged; do stop_one $daemon; done
  if [ "$(linked)" = "$ROOT" ]; then rm -f $LINK; fi
  say "down"
}

status() {
  local file name
  for file in "$PIDS"/*; do
    name=${file##*/}
    if alive "$name"; then echo "$name $(cut -d ' ' -f 1 "$file")"; else echo "$name is dead"; fi
  done
  sinfo -N
}

case ${1:-} in
install | start) "$1" ;;
stop | status | start-one | stop-one)
  place "${SLURM_TEST_ROOT:-$(linked)}"
  if [ -z "$ROOT" ] || [ ! -d "$ROOT" ]; then
    say "there is no cluster"
    exit 0
  fi
  case $1 in
  start-one) start_one "$2" ;;
  stop-one) stop_one "${@:2}" ;;
  *) "$1" ;;
  esac ;;
*)
  sed -n '2,/^set /p' "$0" | grep '^#'
  exit 2 ;;
esac
