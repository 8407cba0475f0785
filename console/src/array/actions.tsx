import type { ActionProps } from '../contract/action-props.ts';
import { ActionBar } from '../contract/action.tsx';
import { useGo } from '../app/base.ts';
import { useMay } from '../app/identity.tsx';
import type { Op } from '../api/operations.ts';

const BUTTONS_MAX = 3;

/** The actions of a detail page: the first as buttons, the rest behind one. */
export function Actions({
  of: actions,
  label = 'More',
  goneTo,
}: {
  readonly of: readonly ActionProps<never>[];
  readonly label?: string;
  /** The page to show once the record is gone. */
  readonly goneTo?: string;
}) {
  const may = useMay();
  const go = useGo();
  const allowed = actions
    .filter(({ op, input }) => may(op as Op, input))
    .map((one) => (goneTo !== undefined && one.takesAway === true ? { ...one, onDone: () => go(goneTo) } : one));
  const shown = allowed.slice(0, allowed.length === BUTTONS_MAX + 1 ? BUTTONS_MAX + 1 : BUTTONS_MAX);
  return <ActionBar buttons={shown} menu={allowed.slice(shown.length)} label={label} />;
}
