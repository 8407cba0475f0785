import { randomBytes } from 'node:crypto';
import type { LockTable } from '../../locks/index.ts';
import type { NfsEvent } from '../events.ts';
import type { Limits } from '../limits.ts';
import type { Namespace } from '../namespace/namespace.ts';
import type { GracePeriod } from '../recovery/grace-period.ts';
import type { ClientRecorder } from '../recovery/recorder.ts';
import type { Identities } from './attributes/identities.ts';
import type { Version4 } from './compound.ts';
import { Clients } from './state/clients.ts';
import { States } from './state/states.ts';

export interface Version4Options {
  readonly namespace: Namespace;
  readonly limits: Limits;
  readonly identities: Identities;
  readonly locks: LockTable;
  readonly recorder: ClientRecorder;
  readonly grace: GracePeriod;
  readonly serverName: string;
  readonly now: () => number;
  readonly report: (event: NfsEvent) => void;
}

/** Everything version 4 remembers between requests. */
export function version4(options: Version4Options): Version4 {
  const { limits, locks, grace, recorder, now, report } = options;
  // Never 0 or all ones, which special stateids are made of.
  const instance = 1 + (randomBytes(4).readUInt32BE() % 0xffff_fffe);
  const states = new States({
    limits,
    locks,
    instance,
    clientByNumber: (number) => clients.byNumber(number),
    onError: (error) => report({ type: 'internal-error', address: '', error }),
  });
  const release = (client: Parameters<States['releaseAll']>[0]) => states.releaseAll(client);
  const clients = new Clients({ limits, recorder, grace, instance, now, report, release });
  const { namespace, identities } = options;
  return {
    namespace,
    limits,
    identities,
    clients,
    states,
    grace,
    serverOwner: Buffer.from(options.serverName),
    report,
  };
}
