/** A page that nobody touched for so long reads on by itself: what it asks for keeps no session open. */
const ATTENDED_MS = 60_000;
const INPUTS = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const;

/** Whether somebody is at the page, by what they touch. */
export class Attendance {
  readonly #now: () => number;
  #lastInput: number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#lastInput = now();
  }

  follow(page: Pick<EventTarget, 'addEventListener'>): void {
    const touched = () => {
      this.#lastInput = this.#now();
    };
    for (const input of INPUTS) page.addEventListener(input, touched, { passive: true, capture: true });
  }

  /** What a reading carries; changes are somebody's doing, however long they take. */
  headers(): Record<string, string> {
    return this.#now() - this.#lastInput < ATTENDED_MS ? {} : { 'x-unattended': '1' };
  }
}

export const attendance = new Attendance();
