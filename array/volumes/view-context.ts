import type { Readings } from '../readings/readings.ts';
import type { ShareLifecycle } from './share-lifecycle.ts';
import type { Place, VolumeSurroundings } from './view.ts';

/** What views need beside the records, as it is this moment. What did not change is the same object. */
export class ViewContext {
  readonly #readings: Readings;
  readonly #tenant: () => number | undefined;
  #lifecycle: ShareLifecycle | undefined;
  #place: Place = { target: null, host: null };
  #controllers: Readings['controllers'] | undefined;

  constructor(readings: Readings, tenant: () => number | undefined) {
    this.#readings = readings;
    this.#tenant = tenant;
  }

  showLifecycle(lifecycle: ShareLifecycle): void {
    this.#lifecycle = lifecycle;
  }

  of(volume: string): VolumeSurroundings {
    const report = this.#readings.volume(volume);
    const pool = report && this.#readings.pool(report.pool);
    return {
      report,
      chunkShare: pool?.chunkShare ?? 1,
      place: this.#placeNow(),
      tenant: this.#tenant() ?? null,
      lifecycle: this.#lifecycle?.factsOf(volume),
    };
  }

  /** Worked out once per reading. */
  #placeNow(): Place {
    const { controllers } = this.#readings;
    if (this.#controllers !== controllers) {
      this.#controllers = controllers;
      const { target = null, host = null } = controllers.find(({ state }) => state === 'active') ?? {};
      if (target !== this.#place.target || host !== this.#place.host) this.#place = { target, host };
    }
    return this.#place;
  }
}
