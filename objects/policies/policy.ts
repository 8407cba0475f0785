/** What people said about a storage policy. */
export interface PolicyNotes {
  readonly name: string;
  readonly description: string | null;
  readonly monthCost: string;
  readonly isDefault: boolean;
}
