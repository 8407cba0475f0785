import type { Clock, Issuer, ListenAddress, Log } from '@granary/kernel';
import type { SupervisionLimits } from './supervision/limits.ts';
import type { ArrayCounts, Programs } from './supervision/supervisor.ts';

export const HOST_DEFAULT = '127.0.0.1';

export interface CloudOptions {
  readonly dataDir: string;
  /** Taken instead of `<dataDir>/granary.config.json`; must exist. */
  readonly configFile?: string | undefined;
  readonly host?: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly adminUser: string;
  /** Made at the first start and kept in the data directory when not given. */
  readonly adminKey?: string | undefined;
  /** The main file of each kind of array process. */
  readonly programs: Programs;
  readonly log: Log;
  readonly clock?: Clock;
  /** What the machine's own network interfaces have; asked of the system unless given. */
  readonly machineAddresses?: () => readonly string[];
  /** Range of the arrays' addresses, in place of the config's. */
  readonly addresses?: string | undefined;
  /** Absent: it serves in the clear, and so do its arrays. */
  readonly tls?: CloudTls | undefined;
  /** Where compiled code of the array programs is kept: outside the data, because it need not be backed up. */
  readonly cacheFolder?: string | undefined;
  /** The built web console that its arrays serve at their management address. */
  readonly consoleFolder?: string | undefined;
  readonly supervision?: Partial<SupervisionLimits>;
}

export interface CloudTls {
  /** Signs the certificates of the cloud and its arrays. */
  readonly issuer: Issuer;
  /** Where it is known, only a portal with a certificate of this authority is answered. */
  readonly portalAuthority?: string | undefined;
  /** Names it is reached by beside its address. */
  readonly names?: readonly string[];
  /** Keeps a new certificate of the issuer that the portal sends; absent: it takes none. */
  readonly accept?: (chain: string) => Issuer;
}

export interface RunningCloud {
  readonly address: ListenAddress;
  readonly url: string;
  readonly adminUser: string;
  readonly adminKey: string;
  /** What an operator must know: a damaged database, a copied folder, arrays that were found again. */
  readonly notices: readonly string[];
  /** A consistent copy of the cloud's database. */
  copyTo(target: string): Promise<void>;
  /** How many of its arrays are up, and how many are on their way. */
  arrayCounts(): ArrayCounts;
  /** The issuer was signed anew: the cloud and its arrays show certificates of it from now on. */
  useIssuer(issuer: Issuer): Promise<void>;
  /** Replaces certificates that end soon: its own and those of its arrays. Done every hour. */
  renewCertificates(): Promise<void>;
  stop(): Promise<void>;
}
