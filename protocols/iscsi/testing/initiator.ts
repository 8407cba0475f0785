import { randomBytes } from 'node:crypto';
import type { ChapCredentials } from './chap.ts';
import { InitiatorConnection } from './connection.ts';
import { Login, type LoginRequest, type LoginResult } from './login.ts';
import { offeredKeys, type Digests, type Keys } from './parameters.ts';
import { InitiatorSession } from './session.ts';

const LOGIN_MS_MAX = 15_000;
const COMMAND_MS_MAX = 30_000;
const INITIATOR_NAME = 'iqn.2026-01.com.granary:test-initiator';

export interface PortalOptions {
  readonly host: string;
  readonly port: number;
  readonly initiatorName?: string;
  readonly chap?: ChapCredentials;
  readonly digests?: Digests;
  /** Any keys to offer, by their names in RFC 7143; they go over our own offers. */
  readonly keys?: Keys;
  /** Six bytes; the same again asks for the session to be reinstated. */
  readonly isid?: Buffer;
  readonly withoutSecurityStage?: boolean;
  readonly commandMsMax?: number;
  /** For tgtd, whose reads do not keep to MaxBurstLength. */
  readonly toleratesLongBursts?: boolean;
}

export interface LoginOptions extends PortalOptions {
  readonly targetName: string;
}

export interface DiscoveredTarget {
  readonly name: string;
  /** `address:port,group`, as the target wrote it. */
  readonly addresses: readonly string[];
}

export const Initiator = {
  /** A normal session with one target. */
  login(options: LoginOptions): Promise<InitiatorSession> {
    const identity = { SessionType: 'Normal', TargetName: options.targetName };
    return openSession(options, identity, false);
  },

  /** Asks a portal which targets it has. */
  async discover(options: PortalOptions): Promise<DiscoveredTarget[]> {
    const session = await openSession(options, { SessionType: 'Discovery' }, true);
    try {
      return targetsIn(await session.text({ SendTargets: 'All' }));
    } finally {
      await session.close();
    }
  },
};

function targetsIn(pairs: readonly (readonly [string, string])[]): DiscoveredTarget[] {
  const targets = new Map<string, string[]>();
  let addresses: string[] = [];
  for (const [key, value] of pairs) {
    if (key === 'TargetName') targets.set(value, (addresses = []));
    if (key === 'TargetAddress') addresses.push(value);
  }
  return [...targets].map(([name, at]) => ({ name, addresses: at }));
}

async function openSession(options: PortalOptions, identity: Keys, discovery: boolean): Promise<InitiatorSession> {
  const offered = offeredKeys(options.digests ?? {}, options.keys ?? {}, discovery);
  const receiveBytesMax = Number(offered['MaxRecvDataSegmentLength']);
  const connection = await InitiatorConnection.open(options.host, options.port, receiveBytesMax);
  const request: LoginRequest = {
    identity: { InitiatorName: options.initiatorName ?? INITIATOR_NAME, ...identity },
    offered,
    isid: options.isid ?? Buffer.concat([Buffer.of(0x80), randomBytes(3), Buffer.alloc(2)]),
    connectionId: 0,
    chap: options.chap,
    withoutSecurityStage: options.withoutSecurityStage ?? false,
    toleratesLongBursts: options.toleratesLongBursts ?? false,
  };
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => connection.destroy(new Error('The login took too long')), LOGIN_MS_MAX);
    connection.onClosed = (error) => {
      clearTimeout(limit);
      reject(error);
    };
    const done = (result: LoginResult) => {
      clearTimeout(limit);
      resolve(new InitiatorSession(connection, result, options.commandMsMax ?? COMMAND_MS_MAX));
    };
    new Login(connection, request, done).start();
  });
}
