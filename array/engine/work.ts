/** Work that takes long. `onProgress` gets fractions of the whole. */
export interface Work {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((fraction: number) => void) | undefined;
}
