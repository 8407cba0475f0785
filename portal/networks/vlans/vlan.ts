import type { ArrayId, CloudId, ProviderId } from '../../ids.ts';

/** A VLAN of a cloud that a provider has. */
export interface Vlan {
  readonly cloudId: CloudId;
  readonly vlanId: number;
  readonly providerId: ProviderId;
  readonly isDefault: boolean;
}

/** A provider, and the VLAN numbers of the cloud it sells. */
export interface ProviderVlans {
  readonly id: number;
  readonly name: string;
  readonly cloudId: CloudId;
  readonly cloudName: string;
  readonly vlanFirst: number;
  readonly vlanLast: number;
}

export interface NameOnVlan {
  readonly cloudId: CloudId;
  readonly vlanId: number;
  readonly name: string;
}

export interface ArrayOnVlan {
  readonly cloudId: CloudId;
  readonly vlanId: number;
  readonly arrayId: ArrayId;
}
