import type { ListenAddress } from '../http/listeners.ts';
import type { LogLevel } from '../log.ts';
import type { ServerTls } from '../tls/policy.ts';

/** A drive as an array process sees it: what it is, where it sits, and the file (a folder, for object storage) that holds its bytes. */
export interface HostedDrive {
  readonly uuid: string;
  /** Order in which the array got it. */
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

export interface HostedInterface {
  readonly id: number;
  readonly address: string;
  readonly netmask: string;
  readonly gateway: string | null;
  readonly vlanId: number;
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
 * All an array process knows of the world, sent whole over the channel to its cloud: secrets travel there, never in
 * arguments or the environment, where any process of the machine could read them.
 */
export interface HostedConfiguration {
  readonly uuid: string;
  readonly number: number;
  readonly internalName: string;
  readonly displayName: string;
  readonly folder: string;
  /** Username and first password of the array's first administrator. */
  readonly owner: string;
  readonly initialPasscode: string;
  /** What the portal signs in with. */
  readonly internalKey: string;
  /** 64 hex digits: what the array seals its own secrets with. */
  readonly vaultKey: string;
  readonly management: ListenAddress;
  readonly managementUrl: string;
  /** Where a block array serves its volumes, and object storage its buckets, on all its addresses. */
  readonly dataPort: number;
  /** Where a block array serves its file shares, on the same addresses. */
  readonly filePort: number;
  readonly publicAddress: string | null;
  readonly interfaces: readonly HostedInterface[];
  /** Null: it serves in the clear. With the authority of its portal, the portal's key counts only beside its certificate. */
  readonly tls: ServerTls | null;
  readonly engine: string | null;
  /** What keeps the bytes of a block array; `embedded` when it is not given. */
  readonly storageEngine?: string;
  readonly cacheGb: number;
  /** New volumes are compressed and deduplicated unless told otherwise. */
  readonly dataReduction: boolean;
  /** Storage node and zone its controller is counted in. */
  readonly node: string;
  readonly zone: string;
  readonly zoneDisplayName: string;
  readonly zonesUsed: number;
  readonly drives: readonly HostedDrive[];
  readonly policies: readonly HostedPolicy[];
  /** Object storage: the zone of each controller that only passes requests on. */
  readonly proxyZones: readonly string[];
  readonly logLevel: LogLevel | 'silent';
}
