import type { AccountDirectory } from './account-directory.ts';
import type { Activity, DriveShare } from './activity.ts';
import type { EncryptionState } from './engine.ts';
import type { EngineEvent } from './events.ts';
import type { DataCertificate } from './serving/data-server.ts';

/** Settings of the array that the data path follows. */
export interface DataPathSettings {
  readonly region: string;
  readonly sslTermination: boolean;
  readonly virtualHostedStyle: boolean;
  readonly tenantNameInUrl: boolean;
  readonly adminAccess: boolean;
  readonly apiHostname: string | null;
  readonly apiIp: string | null;
  readonly publicApiHostname: string | null;
  readonly notificationHosts: readonly string[];
  readonly rateLimitEnabled: boolean;
  readonly rateLimit: number;
  /** Share of new drives that joins a policy in one step, %. */
  readonly expansionPercent: number;
}

/** What an engine asks of the array's services, and reports to them. */
export interface EngineManagement {
  readonly settings: () => DataPathSettings;
  readonly certificate: () => Promise<DataCertificate>;
  readonly encryption: () => EncryptionState;
  readonly directory: AccountDirectory;
  /** Name of the policy of new buckets; null for the first. */
  readonly defaultPolicy: () => string | null;
  /** Indexes of policies that accept nothing new because they are nearly full. */
  readonly fullPolicies: () => readonly number[];
  /** The accounts that a remote endpoint is granted to, by its name. */
  readonly destinations: () => Readonly<Record<string, readonly string[]>>;
  /** What the controller of this name did. */
  readonly onActivity: (controller: string, activity: Activity) => void;
  /** What was done on drives outside of controllers. */
  readonly onDriveActivity: (shares: readonly DriveShare[]) => void;
  readonly onEvent: (event: EngineEvent) => void;
  /** How far the start is. */
  readonly onStage: (stage: string) => void;
}
