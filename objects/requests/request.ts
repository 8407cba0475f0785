export type RequestState = 'pending' | 'approved' | 'denied';

/** An account that a person without one asks for. */
export interface AccountRequest {
  readonly id: number;
  readonly account: string;
  readonly username: string;
  readonly email: string;
  /** Null once it is decided. */
  readonly passwordHash: string | null;
  readonly state: RequestState;
  readonly requestedAt: number;
  readonly decidedBy: string | null;
  readonly decidedAt: number | null;
}
