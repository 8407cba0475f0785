/** A VLAN of a cloud that a provider has. */
export interface Vlan {
  readonly cloudId: number;
  readonly vlanId: number;
  readonly providerId: number;
  readonly isDefault: boolean;
}

/** A provider, and the VLAN numbers of the cloud it sells. */
export interface ProviderVlans {
  readonly id: number;
  readonly name: string;
  readonly cloudId: number;
  readonly cloudName: string;
  readonly vlanFirst: number;
  readonly vlanLast: number;
}

export interface NameOnVlan {
  readonly cloudId: number;
  readonly vlanId: number;
  readonly name: string;
}

export interface ArrayOnVlan {
  readonly cloudId: number;
  readonly vlanId: number;
  readonly arrayId: number;
}
