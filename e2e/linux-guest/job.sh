# Runs as root in a Linux of its own. SHARE, TARGET and INITIATOR are set before it; QUOTA_UID may write 20 MB.
# Lines that begin with ## are for the test outside, which answers by files in the share.
set -u
bad=0
fail() { echo "FAILED: $*"; bad=1; }
server=10.0.2.100

# What the portmapper and the status monitor of version 3 look for.
printf 'sunrpc 111/tcp portmapper\nsunrpc 111/udp portmapper\n' > /etc/services
printf 'ip 0 IP\ntcp 6 TCP\nudp 17 UDP\n' > /etc/protocols
hostname guest
echo '127.0.0.1 localhost guest' > /etc/hosts
: > /etc/resolv.conf
mkdir -p /a /b /src /small /disk /run/rpcbind
rpcbind -i
sleep 1
rpc.statd --no-notify

for d in $(seq 1 20); do
  mkdir -p /src/d$d
  head -c 250000 /dev/urandom | split -b 2500 -a 3 - /src/d$d/f
  ln -s faaa /src/d$d/link
done
head -c 3000000 /dev/urandom > /src/large
mkdir /small/d
cp /src/d1/f*a /src/large /small
cp /src/d2/f*b /small/d
echo "$(find /src -type f | wc -l) files to copy"

mount_both() {
  case $1 in
    3) options="vers=3,port=2049,mountport=2049,proto=tcp,mountproto=tcp" ;;
    *) options="vers=$1,port=2049,proto=tcp" ;;
  esac
  mount -t nfs -o $options,hard,nosharecache $server:$SHARE /a || return 1
  mount -t nfs -o $options,hard,nosharecache,lookupcache=pos,acdirmin=1,acdirmax=2 $server:$SHARE /b
}

# Several at once, since each waits for the emulator most of the time.
each() {
  ls /src | xargs -P 6 -I{} "$@"
}

tree() {
  mkdir /a/tree
  each cp -a /src/{} /a/tree/{} || fail "$1: the tree is copied"
  each diff -rq /src/{} /b/tree/{} || fail "$1: the other mount sees the same tree"
  [ "$(find /b/tree -type f | wc -l)" = "$(find /src -type f | wc -l)" ] || fail "$1: as many files"
  [ "$(readlink /b/tree/d3/link)" = faaa ] || fail "$1: a symbolic link"
  each rm -rf /a/tree/{} || fail "$1: the tree is removed"
  rmdir /a/tree || fail "$1: nothing is left of it"
  echo "## done $1 tree"
}

# Holds the lock of mount a from now on, until let_go.
hold() {
  rm -f /tmp/held /tmp/release
  (flock -x 9 && : > /tmp/held && until [ -e /tmp/release ]; do sleep 1; done) 9>> /a/lock &
  until [ -e /tmp/held ]; do sleep 1; done
}

let_go() {
  : > /tmp/release
}

locks() {
  hold
  (flock -n -x 8 && fail "$1: two have one lock") 8>> /b/lock
  rm -f /tmp/second
  (flock -x 8 && : > /tmp/second) 8>> /b/lock &
  sleep 3
  [ -e /tmp/second ] && fail "$1: the second did not wait"
  let_go
  wait
  [ -e /tmp/second ] || fail "$1: the second never got the lock"
  echo "## done $1 locks"
}

quota() {
  mkdir -p /a/quota
  chown $QUOTA_UID /a/quota
  # The shell has a setpriv of its own that can do less.
  as="/usr/bin/setpriv --reuid=$QUOTA_UID --regid=$QUOTA_UID --clear-groups"
  $as dd if=/dev/urandom of=/a/quota/file bs=64k count=480 conv=fsync 2> /tmp/dd && fail "$1: the quota holds nobody"
  grep -q 'quota exceeded' /tmp/dd || fail "$1: not EDQUOT: $(tail -1 /tmp/dd)"
  rm /a/quota/file || fail "$1: a file over the quota is removed"
  $as dd if=/dev/urandom of=/a/quota/file bs=64k count=16 conv=fsync 2> /tmp/dd || fail "$1: there is room again: $(tail -1 /tmp/dd)"
  rm -r /a/quota
  echo "## done $1 quota"
}

# The server is killed meanwhile.
load() {
  hold
  echo "## load $1"
  n=0
  until [ -e /b/stop-$1 ]; do
    n=$((n + 1))
    cp -r /small /a/copying-$1 || fail "$1: copy $n"
    mv /a/copying-$1 /a/copy-$1-$n || fail "$1: rename of copy $n"
  done
  for k in $(seq 1 $n); do diff -rq /small /b/copy-$1-$k || fail "$1: copy $k is the same"; done
  # Version 3 hears of a restart by a call to the client, which nobody can make from outside the emulator.
  [ $1 = 3 ] || (flock -n -x 8 && fail "$1: a lock was lost in the restart") 8>> /b/lock
  let_go
  wait
  rm -rf /a/copy-$1-* || fail "$1: copies are removed"
  echo "## done $1 load of $n copies"
}

for v in 3 4.0 4.1; do
  mount_both $v || { fail "$v: mount"; continue; }
  grep -q " /a nfs.*vers=$v" /proc/mounts || fail "$v: another version is mounted"
  tree $v
  locks $v
  quota $v
  load $v
  umount /b && umount /a || fail "$v: umount"
done

disk() {
  echo "InitiatorName=$INITIATOR" > /etc/iscsi/initiatorname.iscsi
  mkdir -p /run/lock/iscsi
  iscsid
  iscsiadm -m node -T $TARGET -p $server:3260 -o new > /dev/null
  iscsiadm -m node -T $TARGET -p $server:3260 --login || return 1
  for turn in $(seq 1 60); do [ -b /dev/sda ] && break; sleep 1; done
  mkfs.ext4 -q /dev/sda && mount /dev/sda /disk || return 1
  fio --name=verified --directory=/disk --rw=randrw --bs=4k --size=16m --ioengine=psync --verify=crc32c --verify_fatal=1 \
    --end_fsync=1 --minimal > /tmp/fio || { cat /tmp/fio; return 1; }
  cp -r /small /disk/copy && sync && umount /disk || return 1
  e2fsck -fn /dev/sda > /tmp/e2fsck 2>&1 || { cat /tmp/e2fsck; return 1; }
  mount /dev/sda /disk && diff -rq /small /disk/copy && umount /disk || return 1
  iscsiadm -m node -T $TARGET -p $server:3260 --logout
}

disk || fail "a disk over iSCSI"
echo "## done disk"
exit $bad
