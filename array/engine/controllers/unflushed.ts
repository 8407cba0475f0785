/**
 * Writes made through the engine's own interface that no flush has covered yet. When their controller dies they may be
 * lost; the next flush of such a volume must not say that they are safe.
 */
export class Unflushed {
  readonly #written = new Set<string>();
  readonly #lost = new Set<string>();

  written(volume: string): void {
    this.#written.add(volume);
  }

  /** Takes the volume's writes as covered; `failed` when they were not. */
  flushing(volume: string): void {
    this.#written.delete(volume);
  }

  /** Whether unflushed writes of the volume were lost with a controller; true once for each loss. */
  reportLost(volume: string): boolean {
    return this.#lost.delete(volume);
  }

  controllerDied(): void {
    for (const volume of this.#written) this.#lost.add(volume);
    this.#written.clear();
  }

  removeVolume(volume: string): void {
    this.#written.delete(volume);
    this.#lost.delete(volume);
  }
}
