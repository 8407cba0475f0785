import { InitiatorProtocolError } from './errors.ts';

/** What a session works by once login is over. */
export interface SessionParameters {
  readonly headerDigest: boolean;
  readonly dataDigest: boolean;
  readonly initialR2T: boolean;
  readonly immediateData: boolean;
  /** The largest data segment the target takes. */
  readonly sendBytesMax: number;
  /** The largest data segment we take. */
  readonly receiveBytesMax: number;
  readonly burstBytesMax: number;
  readonly firstBurstBytesMax: number;
  readonly outstandingR2TMax: number;
  readonly dataInOrder: boolean;
  /** Lets the target read on past MaxBurstLength, as tgtd does. */
  readonly toleratesLongBursts: boolean;
}

/** Key names as RFC 7143 writes them. Others (`X-…`) are sent too. */
export type Keys = Readonly<Record<string, string>>;

const OFFERED: Keys = {
  HeaderDigest: 'None',
  DataDigest: 'None',
  InitialR2T: 'No',
  ImmediateData: 'Yes',
  MaxRecvDataSegmentLength: '262144',
  MaxBurstLength: '1048576',
  FirstBurstLength: '262144',
  MaxOutstandingR2T: '1',
  MaxConnections: '1',
  DefaultTime2Wait: '2',
  DefaultTime2Retain: '0',
  DataPDUInOrder: 'Yes',
  DataSequenceInOrder: 'Yes',
  ErrorRecoveryLevel: '0',
};

/** What holds when a key was not agreed on. */
const DEFAULTS: Keys = {
  HeaderDigest: 'None',
  DataDigest: 'None',
  InitialR2T: 'Yes',
  ImmediateData: 'Yes',
  MaxRecvDataSegmentLength: '8192',
  MaxBurstLength: '262144',
  FirstBurstLength: '65536',
  MaxOutstandingR2T: '1',
  DataPDUInOrder: 'Yes',
  DataSequenceInOrder: 'Yes',
};
const NO_ANSWERS = new Set(['Reject', 'NotUnderstood', 'Irrelevant']);
const DISCOVERY_KEYS = [
  'HeaderDigest',
  'DataDigest',
  'MaxRecvDataSegmentLength',
  'DefaultTime2Wait',
  'DefaultTime2Retain',
];

export interface Digests {
  readonly header?: boolean;
  readonly data?: boolean;
}

export function offeredKeys(digests: Digests, own: Keys, discovery: boolean): Record<string, string> {
  const base = { ...OFFERED };
  if (digests.header === true) base['HeaderDigest'] = 'CRC32C';
  if (digests.data === true) base['DataDigest'] = 'CRC32C';
  const kept = discovery ? Object.entries(base).filter(([key]) => DISCOVERY_KEYS.includes(key)) : Object.entries(base);
  return { ...Object.fromEntries(kept), ...own };
}

/** What both sides agreed on: our offers and the target's answers, put together by the rule of each key. */
export function agreedParameters(
  offered: Keys,
  answers: ReadonlyMap<string, string>,
  toleratesLongBursts: boolean,
): SessionParameters {
  const answer = (key: string) => {
    const value = answers.get(key);
    return value === undefined || NO_ANSWERS.has(value) ? (DEFAULTS[key] ?? '') : value;
  };
  const ours = (key: string) => offered[key] ?? DEFAULTS[key] ?? '';
  const smaller = (key: string) => {
    if (Number(answer(key)) > Number(ours(key)) && answers.has(key)) {
      throw new InitiatorProtocolError(
        `The target answered ${key}=${answer(key)} to our ${ours(key)}: it may only go down`,
      );
    }
    return Math.min(Number(answer(key)), Number(ours(key)));
  };
  return {
    headerDigest: agreedDigest('HeaderDigest', ours('HeaderDigest'), answer('HeaderDigest')),
    dataDigest: agreedDigest('DataDigest', ours('DataDigest'), answer('DataDigest')),
    initialR2T: ours('InitialR2T') === 'Yes' || answer('InitialR2T') === 'Yes',
    immediateData: ours('ImmediateData') === 'Yes' && answer('ImmediateData') === 'Yes',
    sendBytesMax: Number(answer('MaxRecvDataSegmentLength')),
    receiveBytesMax: Number(ours('MaxRecvDataSegmentLength')),
    burstBytesMax: smaller('MaxBurstLength'),
    firstBurstBytesMax: smaller('FirstBurstLength'),
    outstandingR2TMax: smaller('MaxOutstandingR2T'),
    dataInOrder: [ours, answer].some((of) => of('DataPDUInOrder') === 'Yes' && of('DataSequenceInOrder') === 'Yes'),
    toleratesLongBursts,
  };
}

function agreedDigest(key: string, offered: string, answer: string): boolean {
  if (!offered.split(',').includes(answer)) {
    throw new InitiatorProtocolError(`The target chose ${key}=${answer}, but we offered ${offered}`);
  }
  return answer === 'CRC32C';
}
