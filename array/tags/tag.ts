export type TaggedKind = 'pool' | 'volume' | 'server';

export interface Tag {
  readonly name: string;
  readonly kind: TaggedKind;
  readonly owner: string;
  readonly key: string;
  readonly value: string;
}
