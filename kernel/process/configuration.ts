import type { ListenAddress } from '../http/listeners.ts';
import type { LogLevel } from '../log.ts';
import type { ServerTls } from '../tls/policy.ts';
import type { ProcessLimits } from './limits.ts';

/**
 * A drive as an array process sees it: its identity, its location, and the file (a folder, for object storage) that
 * holds its bytes.
 */
export interface HostedDrive {
  readonly uuid: string;
  /** The order in which the array received it. */
  readonly number: number;
  readonly type: string;
  readonly medium: 'ssd' | 'hdd';
  readonly cache: boolean;
  readonly capacityGb: number;
  readonly node: string;
  readonly zone: string;
  readonly zoneDisplayName: string;
  readonly policy: string | null;
  readonly file: string;
}

export interface NetworkAddress {
  readonly address: string;
  readonly netmask: string;
  readonly gateway: string | null;
}

/** An array's place in a virtual network: IPv4, where the network has it. */
export interface HostedInterface extends NetworkAddress {
  readonly id: number;
  readonly vlanId: number;
  /** The second address, in a network of both families. */
  readonly ipv6?: NetworkAddress;
}

export interface HostedService {
  readonly address: string;
  readonly port: number;
  /** The name clients reach it by. */
  readonly host: string;
}

export interface HostedPolicy {
  readonly name: string;
  readonly typeId: number;
  readonly typeName: string;
  readonly replicas: number;
  readonly dataFragments: number;
  readonly parityFragments: number;
}

/**
 * The configuration of an array process, sent as a whole over the channel from its cloud. Secrets are in it, never in
 * arguments or the environment, where any process of the machine could read them.
 */
export interface HostedConfiguration {
  readonly uuid: string;
  readonly number: number;
  readonly internalName: string;
  readonly displayName: string;
  readonly folder: string;
  /** The folder of the built web console. Read when the process starts. */
  readonly consoleFolder?: string | undefined;
  /** Username and first password of the array's first administrator. */
  readonly owner: string;
  /** The owner's number at the portal. */
  readonly tenant?: number | undefined;
  /** Who sells the array at the portal. */
  readonly provider?: string | undefined;
  readonly initialPasscode: string;
  /** The key that the portal signs in with. */
  readonly internalKey: string;
  /** 64 hex digits: the key that seals the array's secrets. */
  readonly vaultKey: string;
  readonly management: ListenAddress;
  readonly managementUrl: string;
  /** The port for volumes of a block array, or buckets of object storage, on all its addresses. */
  readonly dataPort: number;
  /** The port for file shares of a block array, on the same addresses. */
  readonly filePort: number;
  readonly publicAddress: string | null;
  /** Object storage: one more place where buckets are served, on an address of the array. */
  readonly publicService: HostedService | null;
  readonly interfaces: readonly HostedInterface[];
  /**
   * Null: no TLS. With the authority of its portal, the portal's key is accepted only with the portal's certificate.
   */
  readonly tls: ServerTls | null;
  readonly engine: string | null;
  /** What keeps the bytes of the array. Default: `embedded`. */
  readonly storageEngine?: string;
  /** Applied when its process starts. */
  readonly limits: ProcessLimits;
  /** In effect: what was bought, as far as the machine has it. A fraction where that is less than a gigabyte. */
  readonly cacheGb: number;
  /** The first start makes pools of mirrored pairs of its drives. */
  readonly raid10Pools: boolean;
  /** A block array is served under a target name for each of its controllers. */
  readonly dualTarget: boolean;
  /** Whether it was ordered with file lifecycle, or got it later. */
  readonly fileLifecycle: boolean;
  /** It serves its data and takes no changes. */
  readonly lockedDown: boolean;
  /** New volumes are compressed and deduplicated by default. */
  readonly dataReduction: boolean;
  /** The storage node and zone of its controller. */
  readonly node: string;
  readonly zone: string;
  readonly zoneDisplayName: string;
  readonly zonesUsed: number;
  /** The numbers the cloud gives its zones: they stay when others come and go. */
  readonly zoneIds: Readonly<Record<string, number>>;
  readonly drives: readonly HostedDrive[];
  readonly policies: readonly HostedPolicy[];
  /** Object storage: the zone of each controller that only passes requests on. */
  readonly proxyZones: readonly string[];
  readonly logLevel: LogLevel | 'silent';
}
