export interface JoinCode {
  readonly id: number;
  /** What the code is found by. */
  readonly codeHash: string;
  /** Of the cloud that joins by it. */
  readonly name: string;
  readonly createdBy: string;
  /** The cloud is moved here although it belongs to another portal. */
  readonly adopts: boolean;
  readonly expiresAt: number;
  readonly usedAt: number | null;
}
