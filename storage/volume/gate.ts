import assert from 'node:assert/strict';
/**
 * Admits writes, or holds them until it opens again. Closing waits for writes in flight: then the volume is at rest,
 * and a snapshot shows one point in time.
 */
export class Gate {
  #underWay = 0;
  #closers = 0;
  #opened: PromiseWithResolvers<void> | undefined;
  #drained: PromiseWithResolvers<void> | undefined;

  get isOpen(): boolean {
    return this.#closers === 0;
  }

  enter(): void {
    this.#underWay++;
  }

  leave(): void {
    if (this.#underWay === 0) assert.fail('a write leaves once');
    this.#underWay--;
    if (this.#underWay === 0) this.#drained?.resolve();
  }

  /** Resolves after the gate opened. It may be closed again before the caller continues: check in a loop. */
  async whenOpen(): Promise<void> {
    await this.#opened?.promise;
  }

  /** Holds new writes and waits for those in flight. May be nested; the last `open` opens. */
  async close(): Promise<void> {
    this.#closers++;
    this.#opened ??= Promise.withResolvers();
    if (this.#underWay === 0) return;
    this.#drained ??= Promise.withResolvers();
    const { promise } = this.#drained;
    await promise;
    this.#drained = undefined;
  }

  open(): void {
    assert.ok(this.#closers > 0, 'a gate is opened as often as it was closed');
    this.#closers--;
    if (this.#closers > 0) return;
    const opened = this.#opened;
    this.#opened = undefined;
    opened?.resolve();
  }

  /** Runs `work` while no write is in flight. */
  async closedWhile<T>(work: () => T | Promise<T>): Promise<T> {
    await this.close();
    try {
      return await work();
    } finally {
      this.open();
    }
  }
}
