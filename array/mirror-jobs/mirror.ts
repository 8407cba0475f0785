import type { Name } from '../sequences/name.ts';

/** A mirror whose source is here. What it names elsewhere is as it was called when the mirror was made. */
export interface SourceMirror {
  readonly name: string;
  readonly displayName: string;
  readonly state: 'creating' | 'active' | 'paused' | 'broken' | 'abandoned';
  readonly volume: Name<'volume'>;
  readonly consistencyGroup: Name<'cg'>;
  readonly groupDisplayName: string;
  readonly poolDisplayName: string;
  readonly remoteArray: string;
  readonly remoteUuid: string;
  readonly remoteDisplayName: string;
  readonly remoteProvider: string;
  readonly remotePool: string;
  readonly remoteVolume: string;
  /** That takes its snapshots. */
  readonly rule: string | null;
  /** A second; 0 is none. */
  readonly rateLimitKb: number;
  /** The snapshot that the other side has whole. */
  readonly base: string | null;
  readonly baseTakenAt: number | null;
  /** The snapshot that is being sent, and how far it is. */
  readonly round: string | null;
  readonly position: number;
  readonly sentBytes: number;
  readonly wireBytes: number;
  readonly syncMs: number;
  readonly inheritsWwid: boolean;
  /** Of a mirror that was broken here: the other side knows. */
  readonly isPeerInformed: boolean;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/** A mirror whose destination is here. */
export interface DestinationMirror {
  readonly name: string;
  readonly peer: string;
  readonly sourceJob: string;
  readonly displayName: string;
  readonly state: 'creating' | 'active' | 'breaking' | 'broken' | 'deleting';
  readonly volume: string | null;
  readonly volumeName: string;
  readonly poolDisplayName: string;
  readonly sourceProvider: string;
  readonly sourceArray: string;
  readonly sourceGroup: string;
  readonly sourceGroupDisplayName: string;
  readonly sourcePoolDisplayName: string;
  readonly sourceWwid: string;
  readonly isPaused: boolean;
  /** The source's snapshot that has come whole, and ours of the same. */
  readonly base: string | null;
  readonly baseTakenAt: number | null;
  readonly baseSnapshot: string | null;
  /** The source's snapshot that is coming, and how far it is. */
  readonly round: string | null;
  readonly roundName: string | null;
  readonly roundTakenAt: number | null;
  readonly position: number;
  readonly receivedBytes: number;
  readonly syncMs: number;
  readonly inheritsWwid: boolean;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

export type NewSource = Omit<
  SourceMirror,
  | 'rule'
  | 'rateLimitKb'
  | 'base'
  | 'baseTakenAt'
  | 'round'
  | 'position'
  | 'sentBytes'
  | 'wireBytes'
  | 'syncMs'
  | 'inheritsWwid'
  | 'isPeerInformed'
>;

export type NewDestination = Omit<
  DestinationMirror,
  | 'volume'
  | 'isPaused'
  | 'base'
  | 'baseTakenAt'
  | 'baseSnapshot'
  | 'round'
  | 'roundName'
  | 'roundTakenAt'
  | 'position'
  | 'receivedBytes'
  | 'syncMs'
  | 'inheritsWwid'
>;

/** What is watched of a mirror. */
export interface MirrorStanding extends Pick<SourceMirror, 'name' | 'displayName' | 'baseTakenAt'> {
  readonly role: 'source' | 'destination';
  readonly state: SourceMirror['state'] | DestinationMirror['state'];
}
