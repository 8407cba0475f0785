import type { Limits } from '../limits.ts';
import { CONTINUE, FINAL } from '../pdu/opcodes.ts';
import { ProtocolError } from '../pdu/receiver.ts';
import { ChapExchange, type ChapSecrets } from './chap.ts';
import { defaultParameters, isDeclaration, negotiate, type SessionParameters } from './parameters.ts';
import { LoginRefused, LoginStatus } from './status.ts';
import { decodeText, encodeText, type TextPairs } from './text.ts';

const STAGE_SECURITY = 0;
const STAGE_OPERATIONAL = 1;
const STAGE_FULL_FEATURE = 3;

const NAME_LENGTH_MAX = 223;
const NAME = /^(iqn\.|eui\.|naa\.)[^\s,]+$/;

/** Who may log in where; asked once the initiator has said who it is. */
export interface Doorkeeper {
  readonly limits: Limits;
  /** What the initiator must prove, or `undefined` when there is nothing here for it. */
  admitTo(targetName: string, initiatorName: string): Admission | undefined;
  admitToDiscovery(initiatorName: string): Admission | undefined;
}

export interface Admission {
  readonly chap?: ChapSecrets;
  readonly alias?: string;
}

export interface LoginResult {
  readonly initiatorName: string;
  readonly initiatorAlias: string;
  /** `undefined` in a discovery session. */
  readonly targetName: string | undefined;
  /** Twelve hexadecimal digits. */
  readonly isid: string;
  readonly connectionId: number;
  readonly commandNumber: number;
  readonly parameters: SessionParameters;
  /** What the initiator was admitted by; the secret it had to show may have changed since. */
  readonly admission: Admission;
}

export interface LoginReply {
  readonly flags: number;
  readonly text: Buffer;
  /** Set when the login is complete. */
  readonly result?: LoginResult;
}

interface Identity {
  readonly initiatorName: string;
  readonly initiatorAlias: string;
  readonly targetName: string | undefined;
  readonly admission: Admission;
}

/** The target's side of a login (RFC 7143, sections 6 and 11.12): one request in, one reply out, until it is done. */
export class LoginExchange {
  readonly #doorkeeper: Doorkeeper;
  readonly #parameters = defaultParameters();
  #first: { isid: string; taskTag: number; connectionId: number; commandNumber: number } | undefined;
  #stage = STAGE_SECURITY;
  #text: Buffer[] = [];
  #textBytes = 0;
  #exchanges = 0;
  #identity: Identity | undefined;
  #chap: ChapExchange | undefined;
  #authenticated = false;
  #claimedName = '';
  #declared = false;
  readonly #offered = new Map<string, string>();

  constructor(doorkeeper: Doorkeeper) {
    this.#doorkeeper = doorkeeper;
  }

  /** Empty until the initiator has said it. */
  get initiatorName(): string {
    return this.#claimedName;
  }

  handle(header: Buffer, data: Buffer): LoginReply {
    const { limits } = this.#doorkeeper;
    if (++this.#exchanges > limits.loginExchangesMax) throw new ProtocolError('the login takes too many turns');
    const flags = header[1] ?? 0;
    this.#checkHeader(header, (flags >> 2) & 3);
    this.#textBytes += data.length;
    if (this.#textBytes > limits.loginTextBytesMax) throw new ProtocolError('the login has too much text');
    // A copy, for the data may be a view of what was received.
    if (data.length > 0) this.#text.push(Buffer.from(data));
    if ((flags & CONTINUE) !== 0) return { flags: this.#stage << 2, text: Buffer.alloc(0) };

    const pairs = decodeText(Buffer.concat(this.#text));
    this.#text = [];
    return this.#answer(pairs, (flags & FINAL) !== 0, flags & 3);
  }

  #checkHeader(header: Buffer, stage: number): void {
    const taskTag = header.readUInt32BE(16);
    const isid = header.toString('hex', 8, 14);
    if (this.#first === undefined) {
      if ((header[3] ?? 0) > 0) throw new LoginRefused(LoginStatus.unsupportedVersion, 'only version 0 is spoken here');
      this.#checkSessionHandle(header.readUInt16BE(14));
      this.#first = {
        isid,
        taskTag,
        connectionId: header.readUInt16BE(20),
        commandNumber: header.readUInt32BE(24),
      };
      this.#stage = stage;
    } else if (this.#first.isid !== isid || this.#first.taskTag !== taskTag) {
      throw new LoginRefused(LoginStatus.initiatorError, 'the requests of one login differ in ISID or task tag');
    }
    if (stage !== this.#stage || (stage !== STAGE_SECURITY && stage !== STAGE_OPERATIONAL)) {
      throw new LoginRefused(LoginStatus.initiatorError, 'the login is not in that stage');
    }
  }

  /** A session has one connection, so no second one can join it. */
  #checkSessionHandle(handle: number): void {
    if (handle === 0) return;
    throw new LoginRefused(LoginStatus.sessionDoesNotExist, 'a session cannot be joined; log in with TSIH 0');
  }

  #answer(pairs: TextPairs, transitWanted: boolean, nextStage: number): LoginReply {
    const replies: [string, string][] = [];
    const identity = (this.#identity ??= this.#identify(pairs, replies));
    const mayLeave =
      this.#stage === STAGE_SECURITY
        ? this.#authenticate(identity, pairs, replies, transitWanted)
        : this.#mustBeAuthenticated(identity);
    this.#negotiate(pairs, replies);
    const text = encodeText(replies);
    if (!transitWanted || !mayLeave) return { flags: this.#stage << 2, text };

    if (nextStage <= this.#stage || nextStage === 2) {
      throw new LoginRefused(LoginStatus.initiatorError, 'the login cannot go on to that stage');
    }
    const flags = FINAL | (this.#stage << 2) | nextStage;
    this.#stage = nextStage;
    if (nextStage !== STAGE_FULL_FEATURE) return { flags, text };
    return { flags, text, result: this.#result(identity) };
  }

  #identify(pairs: TextPairs, replies: [string, string][]): Identity {
    const initiatorName = pairs.get('InitiatorName');
    if (initiatorName === undefined) throw new LoginRefused(LoginStatus.missingParameter, 'InitiatorName is missing');
    if (initiatorName.length > NAME_LENGTH_MAX || !NAME.test(initiatorName)) {
      throw new LoginRefused(LoginStatus.initiatorError, 'InitiatorName is not an iSCSI name');
    }
    this.#claimedName = initiatorName;
    const initiatorAlias = (pairs.get('InitiatorAlias') ?? '').slice(0, 255);
    const type = pairs.get('SessionType') ?? 'Normal';
    if (type === 'Discovery') {
      const admission = this.#doorkeeper.admitToDiscovery(initiatorName);
      if (admission === undefined) throw notFound();
      return { initiatorName, initiatorAlias, targetName: undefined, admission };
    }
    if (type !== 'Normal') throw new LoginRefused(LoginStatus.sessionTypeNotSupported, `no sessions of type ${type}`);
    const targetName = pairs.get('TargetName');
    if (targetName === undefined) throw new LoginRefused(LoginStatus.missingParameter, 'TargetName is missing');
    const admission = this.#doorkeeper.admitTo(targetName, initiatorName);
    if (admission === undefined) throw notFound();
    if (admission.alias !== undefined) replies.push(['TargetAlias', admission.alias]);
    replies.push(['TargetPortalGroupTag', '1']);
    return { initiatorName, initiatorAlias, targetName, admission };
  }

  /** Goes one step on in the security stage; true when the initiator may leave it. */
  #authenticate(identity: Identity, pairs: TextPairs, replies: [string, string][], transitWanted: boolean): boolean {
    if (this.#authenticated) return true;
    if (this.#chap === undefined) return this.#chooseMethod(identity.admission, pairs, replies, transitWanted);
    const step = this.#chap.step(pairs);
    if (step.kind === 'refused') throw unauthenticated(step.reason);
    replies.push(...step.pairs);
    this.#authenticated = step.kind === 'passed';
    return this.#authenticated;
  }

  /** True when the initiator may leave the security stage without a proof. */
  #chooseMethod({ chap }: Admission, pairs: TextPairs, replies: [string, string][], transitWanted: boolean): boolean {
    const offers = pairs.get('AuthMethod')?.split(',');
    if (offers === undefined && !transitWanted) return false;
    const method = offers === undefined ? impliedMethod(chap) : firstMethodInCommon(offers, chap);
    if (method === undefined) {
      throw unauthenticated(chap === undefined ? 'no CHAP secret is set here' : 'CHAP is required');
    }
    if (offers !== undefined) replies.push(['AuthMethod', method]);
    if (method === 'CHAP' && chap !== undefined) this.#chap = new ChapExchange(chap);
    this.#authenticated = this.#chap === undefined;
    return this.#authenticated;
  }

  #mustBeAuthenticated(identity: Identity): true {
    const { chap } = identity.admission;
    if (!this.#authenticated && impliedMethod(chap) === undefined) throw unauthenticated('CHAP is required');
    this.#authenticated = true;
    return true;
  }

  #negotiate(pairs: TextPairs, replies: [string, string][]): void {
    for (const [key, value] of inOrderOfNeed(pairs)) {
      if (key === 'AuthMethod' || key.startsWith('CHAP_')) continue;
      const before = this.#offered.get(key);
      // libiscsi names itself and the target again in the second stage.
      if (before === value && isDeclaration(key)) continue;
      if (before !== undefined) throw new LoginRefused(LoginStatus.initiatorError, `${key} is negotiated twice`);
      this.#offered.set(key, value);
      const answer = negotiate(key, value, this.#parameters, this.#doorkeeper.limits);
      if (answer !== undefined) replies.push([key, answer]);
    }
    if (this.#stage === STAGE_OPERATIONAL && !this.#declared) {
      this.#declared = true;
      replies.push(['MaxRecvDataSegmentLength', String(this.#doorkeeper.limits.dataSegmentBytesMax)]);
    }
  }

  #result(identity: Identity): LoginResult {
    const first = this.#first;
    if (first === undefined) throw new ProtocolError('the login ended before it began');
    return {
      initiatorName: identity.initiatorName,
      initiatorAlias: identity.initiatorAlias,
      targetName: identity.targetName,
      isid: first.isid,
      connectionId: first.connectionId,
      commandNumber: first.commandNumber,
      parameters: this.#parameters,
      admission: identity.admission,
    };
  }
}

/** The answer to one key depends on another, wherever that stands. */
function inOrderOfNeed(pairs: TextPairs): [string, string][] {
  const isLast = (key: string) => Number(key === 'FirstBurstLength');
  return [...pairs].sort(([one], [other]) => isLast(one) - isLast(other));
}

/** The same for what does not exist and for what one may not know of. */
function notFound(): LoginRefused {
  return new LoginRefused(LoginStatus.notFound, 'no such target for this initiator; check its name and its access');
}

function unauthenticated(reason: string): LoginRefused {
  return new LoginRefused(LoginStatus.authenticationFailure, reason);
}

/** What an initiator uses that offers no method. */
function impliedMethod(chap: ChapSecrets | undefined): 'None' | undefined {
  return chap === undefined || chap.isOptional === true ? 'None' : undefined;
}

/** The first offer that this side can accept, too (RFC 7143, section 6.2.1). */
function firstMethodInCommon(offers: readonly string[], chap: ChapSecrets | undefined): 'CHAP' | 'None' | undefined {
  for (const offer of offers) {
    if (offer === 'CHAP' && chap !== undefined) return 'CHAP';
    if (offer === 'None' && impliedMethod(chap) === 'None') return 'None';
  }
  return undefined;
}
