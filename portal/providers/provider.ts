export interface Provider {
  readonly id: number;
  readonly name: string;
  readonly key: string;
  readonly groupId: number | null;
  readonly cloudId: number;
  readonly enabled: boolean;
  /** Left out of what users see. */
  readonly hidden: boolean;
  readonly createdAt: number;
}

export interface ProviderGroup {
  readonly id: number;
  readonly name: string;
}
