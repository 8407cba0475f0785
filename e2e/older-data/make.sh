#!/usr/bin/env bash
# Makes data.tar.gz and the files of expected/ beside this script with the code of an older version:
#   e2e/older-data/make.sh CHECKOUT      a checkout of that version, after npm ci
# The service is killed, not stopped: the folder holds write-ahead logs and write-intent marks as a power cut leaves them.
# Needs qemu-io, aws, unzip, jq.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
checkout=$(cd "$1" && pwd)
work=$(mktemp -d)
data=$work/granary-data
port=7521
export HOME=$work GRANARY_ADMIN_PASSWORD='an end to end password'
granary() { "$checkout/node_modules/.bin/granary" "$@"; }

rm -rf "$here/expected"
mkdir "$here/expected"
cd "$work"
setsid "$checkout/node_modules/.bin/granary" up --data "$data" --port $port --cloud-port $((port + 1)) --addresses 127.90.7.0/24 \
  > "$work/log" 2>&1 &
service=$!
trap 'kill -9 -- -$service || true; rm -rf "$work"' EXIT
until grep -q 'Granary is ready' "$work/log"; do sleep 0.2; done

# The portal: an array that lived a while, so that the bill is not empty.
echo "$GRANARY_ADMIN_PASSWORD" | granary login --url http://127.0.0.1:$port --user admin --password-stdin
granary arrays create --name brief --provider local --engine engine_small --drives SSD_10GB=2 --wait --field status
sleep 10
granary arrays delete brief --wait

# A block array: a volume with a snapshot, overwritten since; a clone of the snapshot; a policy that runs rarely.
granary arrays create --name tank --provider local --engine engine_small --drives SSD_10GB=2 --wait --field status
granary array login tank
granary array raid-groups create --display-name pair --protection RAID1 --disk volume-00000001,volume-00000002
granary array pools create --display-name main --raid-groups pair
granary array volumes create --name books --capacity 1G --pool main
granary array servers create --display-name web-1 --iqn iqn.2026-11.org.example:web-1
granary array servers attach-volumes web-1 --volume-name books
address=$(granary arrays get tank --field ip_address)
target=$(granary array volumes get books --field target)
disk() { qemu-io --image-opts "driver=iscsi,transport=tcp,portal=$address:3260,target=$target,lun=0,initiator-name=iqn.2026-11.org.example:web-1" "$@"; }
disk -c 'write -P 0x11 0 4M' -c 'flush'
granary array snapshots create books --display-name before-lunch
disk -c 'write -P 0x22 1M 1M' -c 'discard 3M 512k' -c 'flush'
granary array snapshots create books --display-name after-lunch
disk -c 'write -P 0x33 0 64k' -c 'flush'
granary array volumes list --json > "$here/expected/volumes.json"
granary array snapshots list --json > "$here/expected/snapshots.json"

# Object storage: a bucket with versions, a delete marker, an object of several parts' size.
granary arrays create --name depot --kind object_storage --provider local --drives SSD_10GB=4 \
  --array-zone-group-storage-policy-type-id 1 --storage-profile two-copies --wait --field status
granary objects login depot
ip=$(granary arrays get depot --field ip_address)
acme=$(granary objects accounts create --name acme --field count)
code=$(granary objects users create --username ana --email ana@acme.example --account-id "$acme" --role account_admin --field code)
granary objects users use-password-code ana --account acme --code "$code" --new-password Orange-kettle-41 --field status_msg
record=$(granary objects users authenticate --account acme --user ana --password Orange-kettle-41 --json)
access=$(echo "$record" | jq -r '.. | .s3_access_key? // empty' | head -1)
secret=$(echo "$record" | jq -r '.. | .s3_secret_key? // empty' | head -1)
export AWS_ACCESS_KEY_ID=$access AWS_SECRET_ACCESS_KEY=$secret AWS_DEFAULT_REGION=us-east-1
s3() { aws --endpoint-url "http://$ip:8080" s3api "$@" > "$work/reply"; }
put() { s3 put-object --bucket letters --key "$1" --body "$2"; }
s3 create-bucket --bucket letters
s3 put-bucket-versioning --bucket letters --versioning-configuration Status=Enabled
for text in first second third; do
  echo "the $text note" > note
  put note note
done
put gone note
s3 delete-object --bucket letters --key gone
yes 'a line of a longer text' | head -c 3000000 > large || true
put large large
s3 list-object-versions --bucket letters
cp "$work/reply" "$here/expected/versions.json"
jq -n --arg access "$access" --arg secret "$secret" --arg address "$ip" '{access: $access, secret: $secret, address: $address}' \
  > "$here/expected/s3.json"

# The bill of the time until now; asking again later gives the same.
end=$(date -u '+%Y-%m-%d %H:%M')
sleep 61
granary billing download --start-datetime "$(date -u +%Y-%m)-01 00:00" --end-datetime "$end" --output bill.zip
unzip -p bill.zip items.csv > "$here/expected/items.csv"
unzip -p bill.zip summary.csv > "$here/expected/summary.csv"
echo "$end" > "$here/expected/bill-end.txt"

kill -9 -- -$service
sleep 1
tar --sparse --exclude="*.log" --exclude="*-shm" -C "$work" -czf "$here/data.tar.gz" granary-data
ls -l "$here/data.tar.gz"
