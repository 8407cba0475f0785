import type { Limits } from '../limits.ts';

/** What was agreed for a session; the values before any talk are the defaults of RFC 7143, section 13. */
export interface SessionParameters {
  headerDigest: boolean;
  dataDigest: boolean;
  initialR2t: boolean;
  immediateData: boolean;
  /** What the initiator takes in one data segment. */
  initiatorDataSegmentBytes: number;
  maxBurstBytes: number;
  firstBurstBytes: number;
  maxOutstandingR2t: number;
}

export function defaultParameters(): SessionParameters {
  return {
    headerDigest: false,
    dataDigest: false,
    initialR2t: true,
    immediateData: true,
    initiatorDataSegmentBytes: 8192,
    maxBurstBytes: 262_144,
    firstBurstBytes: 65_536,
    maxOutstandingR2t: 1,
  };
}

type Answer = string | undefined;
type Rule = (value: string, parameters: SessionParameters, limits: Limits) => Answer;

const SEGMENT_BYTES_MIN = 512;
const LENGTH_MAX = 0xffffff;

function numberIn(value: string, min: number, max: number): number | undefined {
  if (!/^(0[xX][0-9a-fA-F]{1,8}|[0-9]{1,10})$/.test(value)) return undefined;
  const number = Number(value);
  return number >= min && number <= max ? number : undefined;
}

/** A number of which both sides take the smaller. */
function smaller(
  min: number,
  max: number,
  ours: number,
  keep?: (parameters: SessionParameters, agreed: number) => void,
) {
  return (value: string, parameters: SessionParameters): Answer => {
    const theirs = numberIn(value, min, max);
    if (theirs === undefined) return 'Reject';
    const agreed = Math.min(theirs, ours);
    keep?.(parameters, agreed);
    return String(agreed);
  };
}

function digest(key: 'headerDigest' | 'dataDigest'): Rule {
  return (value, parameters) => {
    const chosen = value.split(',').find((offer) => offer === 'CRC32C' || offer === 'None');
    if (chosen === undefined) return 'Reject';
    parameters[key] = chosen === 'CRC32C';
    return chosen;
  };
}

function yesOrNo(decide: (theirs: boolean, parameters: SessionParameters) => boolean): Rule {
  return (value, parameters) => {
    if (value !== 'Yes' && value !== 'No') return 'Reject';
    return decide(value === 'Yes', parameters) ? 'Yes' : 'No';
  };
}

const RULES: Readonly<Record<string, Rule>> = {
  HeaderDigest: digest('headerDigest'),
  DataDigest: digest('dataDigest'),
  MaxConnections: smaller(1, 65_535, 1),
  InitialR2T: yesOrNo((theirs, parameters) => (parameters.initialR2t = theirs)),
  ImmediateData: yesOrNo((theirs, parameters) => (parameters.immediateData = theirs)),
  MaxRecvDataSegmentLength: (value, parameters) => {
    const bytes = numberIn(value, SEGMENT_BYTES_MIN, LENGTH_MAX);
    if (bytes === undefined) return 'Reject';
    parameters.initiatorDataSegmentBytes = bytes;
    return undefined;
  },
  MaxBurstLength: (value, parameters, limits) =>
    smaller(
      SEGMENT_BYTES_MIN,
      LENGTH_MAX,
      limits.burstBytesMax,
      (agreed, bytes) => (agreed.maxBurstBytes = bytes),
    )(value, parameters),
  FirstBurstLength: (value, parameters, limits) => {
    // A first burst is never longer than a burst.
    const ours = Math.min(limits.firstBurstBytesMax, parameters.maxBurstBytes);
    return smaller(
      SEGMENT_BYTES_MIN,
      LENGTH_MAX,
      ours,
      (agreed, bytes) => (agreed.firstBurstBytes = bytes),
    )(value, parameters);
  },
  DefaultTime2Wait: (value) => (numberIn(value, 0, 3600) === undefined ? 'Reject' : String(Number(value))),
  DefaultTime2Retain: smaller(0, 3600, 0),
  MaxOutstandingR2T: (value, parameters, limits) =>
    smaller(
      1,
      65_535,
      limits.outstandingR2tMax,
      (agreed, count) => (agreed.maxOutstandingR2t = count),
    )(value, parameters),
  DataPDUInOrder: yesOrNo(() => true),
  DataSequenceInOrder: yesOrNo(() => true),
  ErrorRecoveryLevel: smaller(0, 2, 0),
  OFMarker: yesOrNo(() => false),
  IFMarker: yesOrNo(() => false),
  OFMarkInt: () => 'Irrelevant',
  IFMarkInt: () => 'Irrelevant',
  TaskReporting: (value) => (value.split(',').includes('RFC3720') ? 'RFC3720' : 'Reject'),
  iSCSIProtocolLevel: smaller(0, 31, 1),
};

/** Keys that tell something and want no answer. */
const DECLARATIONS = new Set(['InitiatorName', 'InitiatorAlias', 'TargetName', 'SessionType']);

export function isDeclaration(key: string): boolean {
  return DECLARATIONS.has(key);
}

/** Our answer to one offered key, or `undefined` when none is due; what was agreed is put into `parameters`. */
export function negotiate(key: string, value: string, parameters: SessionParameters, limits: Limits): Answer {
  if (isDeclaration(key)) return undefined;
  const rule = Object.hasOwn(RULES, key) ? RULES[key] : undefined;
  return rule === undefined ? 'NotUnderstood' : rule(value, parameters, limits);
}
