/** The offer of an array to people without a portal account. */
export interface PublicService {
  readonly id: number;
  readonly arrayId: number;
  readonly accountName: string;
  readonly username: string;
  readonly passwordSealed: string;
  readonly ip: string;
  readonly host: string;
  readonly autoApprove: boolean;
  readonly price: string;
}
