/** What a person pastes at a server to use a volume or share. Names come from people: every one is quoted. */

export interface Disk {
  readonly address: string;
  readonly target: string;
  readonly lun: number;
  readonly name: string;
  /** What the server has to call itself; null where the array knows it by its address. */
  readonly initiator: string | null;
  /** Where the server has to sign in: its name. The secret is asked for, never shown. */
  readonly chapUser: string | undefined;
  /** The server may only read: it makes no filesystem. */
  readonly isReadOnly: boolean;
}

export interface Mount {
  /** `10.0.0.5:/export/docs` */
  readonly path: string;
  readonly name: string;
  readonly isReadOnly: boolean;
}

const PORT = 3260;
const SECRET = 'SECRET-OF-THE-SERVER';
const AFTER_RESTART = '# so that it is there after every restart:';

export function linuxDisk(disk: Disk): string {
  const { address, target, lun, initiator, isReadOnly } = disk;
  const portal = `${address}:${PORT}`;
  const node = `sudo iscsiadm -m node -T ${shell(target)} -p ${shell(portal)}`;
  const folder = `/mnt/${slug(disk.name)}`;
  const options = isReadOnly ? 'ro,_netdev' : '_netdev';
  return lines([
    'sudo apt-get install -y open-iscsi   # Fedora, RHEL: sudo dnf install iscsi-initiator-utils',
    initiator !== null &&
      `echo ${shell(`InitiatorName=${initiator}`)} | sudo tee /etc/iscsi/initiatorname.iscsi && sudo systemctl restart iscsid`,
    ...linuxDiscovery(portal, disk.chapUser),
    ...(disk.chapUser === undefined ? [] : chapSettings(node, 'node.session.auth', disk.chapUser)),
    `${node} --op update -n node.startup -v automatic`,
    // Of a server that is signed in already, for another volume, the rescan alone brings the disk.
    `${node} --login   # "already present" is no error: the server has another disk of this array`,
    `${node} --rescan && sudo udevadm settle`,
    `DISK=${shell(`/dev/disk/by-path/ip-${portal}-iscsi-${target}-lun-${linuxLun(lun)}`)}`,
    !isReadOnly && 'sudo mkfs.ext4 "$DISK"   # once only: it erases the disk',
    `sudo mkdir -p ${shell(folder)} && sudo mount -o ${options} "$DISK" ${shell(folder)}`,
    AFTER_RESTART,
    `echo "$DISK ${folder} ext4 ${options} 0 0" | sudo tee -a /etc/fstab`,
  ]);
}

/** As udev writes it in the name of a disk: from 256 on, the address of eight bytes that the array reports. */
function linuxLun(lun: number): string {
  return lun < 0x100 ? String(lun) : `0x${(0x4000 | lun).toString(16)}${'0'.repeat(12)}`;
}

function linuxDiscovery(portal: string, chapUser: string | undefined): string[] {
  if (chapUser === undefined) return [`sudo iscsiadm -m discovery -t sendtargets -p ${shell(portal)}`];
  const record = `sudo iscsiadm -m discoverydb -t sendtargets -p ${shell(portal)}`;
  return [`${record} -o new`, ...chapSettings(record, 'discovery.sendtargets.auth', chapUser), `${record} --discover`];
}

function chapSettings(command: string, prefix: string, user: string): string[] {
  const set = (name: string, value: string) => `${command} -o update -n ${prefix}.${name} -v ${value}`;
  return [set('authmethod', 'CHAP'), set('username', shell(user)), set('password', shell(SECRET))];
}

export function windowsDisk({ address, target, initiator, chapUser, isReadOnly }: Disk): string {
  const chap =
    chapUser === undefined
      ? ''
      : ` -AuthenticationType ONEWAYCHAP -ChapUsername ${powerShell(chapUser)} -ChapSecret ${powerShell(SECRET)}`;
  return lines([
    'Set-Service MSiSCSI -StartupType Automatic; Start-Service MSiSCSI',
    initiator !== null &&
      `Get-InitiatorPort -ConnectionType iSCSI | Set-InitiatorPort -NewNodeAddress ${powerShell(initiator)}`,
    `New-IscsiTargetPortal -TargetPortalAddress ${powerShell(address)} -TargetPortalPortNumber ${PORT}${chap}`,
    `Connect-IscsiTarget -NodeAddress ${powerShell(target)} -IsPersistent $true${chap}`,
    'Update-HostStorageCache   # shows what was attached to a server that is connected already',
    ...(isReadOnly ? WINDOWS_READING : WINDOWS_FORMATTING),
  ]);
}

/** Windows leaves a disk that it shares with other servers offline. */
const WINDOWS_READING = ['Get-Disk | Where-Object BusType -eq "iSCSI" | Set-Disk -IsOffline $false'];

const WINDOWS_FORMATTING = [
  '$new = Get-Disk | Where-Object { $_.BusType -eq "iSCSI" -and $_.PartitionStyle -eq "RAW" }; $new',
  '# once only, when the list above has the new disk alone: it erases every disk of the list',
  '$new | Set-Disk -IsOffline $false',
  '$new | Initialize-Disk -PassThru | New-Partition -AssignDriveLetter -UseMaximumSize | Format-Volume -FileSystem NTFS',
];

export function vmwareDisk({ address, initiator, chapUser }: Disk): string {
  return lines([
    'esxcli iscsi software set --enabled=true',
    "ADAPTER=$(esxcli iscsi adapter list | awk '/iscsi_vmk/ {print $1}')",
    initiator !== null && `esxcli iscsi adapter set --adapter=$ADAPTER --name=${shell(initiator)}`,
    chapUser !== undefined &&
      `esxcli iscsi adapter auth chap set --adapter=$ADAPTER --direction=uni --level=required --authname=${shell(chapUser)} --secret=${shell(SECRET)}`,
    `esxcli iscsi adapter discovery sendtarget add --adapter=$ADAPTER --address=${shell(`${address}:${PORT}`)}`,
    'esxcli storage core adapter rescan --adapter=$ADAPTER',
    'esxcli storage core device list | grep -B 3 iscsi   # make a datastore of it in the client',
  ]);
}

export function linuxMount({ path, name, isReadOnly }: Mount): string {
  const folder = shell(`/mnt/${slug(name)}`);
  const options = `vers=4.1,proto=tcp${isReadOnly ? ',ro' : ''}`;
  return lines([
    'sudo apt-get install -y nfs-common   # Fedora, RHEL: sudo dnf install nfs-utils',
    `sudo mkdir -p ${folder}`,
    `sudo mount -t nfs -o ${options} ${shell(path)} ${folder}`,
    AFTER_RESTART,
    `echo ${shell(`${fstab(path)} /mnt/${slug(name)} nfs ${options},_netdev 0 0`)} | sudo tee -a /etc/fstab`,
  ]);
}

export function vmwareMount({ path, name, isReadOnly }: Mount): string {
  const [host, folder] = parted(path);
  const readOnly = isReadOnly ? ' --readonly' : '';
  return `esxcli storage nfs41 add --hosts=${shell(host)} --share=${shell(folder)} --volume-name=${shell(slug(name))}${readOnly}`;
}

export function macMount({ path, name }: Mount): string {
  const folder = shell(`/Volumes/${slug(name)}`);
  return lines([`sudo mkdir -p ${folder}`, `sudo mount -t nfs -o vers=4,tcp,port=2049 ${shell(path)} ${folder}`]);
}

/** Of `[::1]:/export/docs`, too. */
function parted(path: string): [host: string, folder: string] {
  const at = path.indexOf(':/');
  return [path.slice(0, at), path.slice(at + 1)];
}

function fstab(path: string): string {
  return path.replaceAll(' ', '\\040');
}

function lines(all: readonly (string | false)[]): string {
  return all.filter((line) => line !== false).join('\n');
}

/** A name for a folder: letters, digits and what no shell reads as anything else. */
function slug(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replaceAll(/^[-.]+|-+$/g, '') || 'data';
}

export function shell(text: string): string {
  return /^[A-Za-z0-9_.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function powerShell(text: string): string {
  return `'${text.replaceAll(/['\u2018\u2019\u201a\u201b]/g, (quote) => quote + quote)}'`;
}
