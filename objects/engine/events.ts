/** What happens in an engine that the array's event log reports. */
export type EngineEvent =
  | { readonly kind: 'drive-absent'; readonly uuid: string; readonly reason: string }
  | { readonly kind: 'drive-back'; readonly uuid: string; readonly empty: boolean }
  | { readonly kind: 'drive-joined' | 'drive-left'; readonly uuid: string; readonly policy: string }
  | { readonly kind: 'repaired'; readonly policy: string; readonly rebuilt: number }
  | { readonly kind: 'unreadable'; readonly policy: string; readonly objects: number }
  | { readonly kind: 'controller-lost'; readonly controller: string; readonly reason: string };
