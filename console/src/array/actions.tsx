import { ActionButton, ActionMenu, type ActionProps } from '../contract/action.tsx';
import { useMay } from '../app/identity.tsx';
import type { Op } from '../api/operations.ts';

const BUTTONS_MAX = 3;

/** The actions of a detail page: the first as buttons, the rest behind one. */
export function Actions({ of: actions }: { readonly of: readonly ActionProps<never>[] }) {
  const may = useMay();
  const allowed = actions.filter(({ op, input }) => may(op as Op, input));
  const shown = allowed.slice(0, allowed.length === BUTTONS_MAX + 1 ? BUTTONS_MAX + 1 : BUTTONS_MAX);
  return (
    <>
      {shown.map((one) => (
        <ActionButton key={one.label} {...one} />
      ))}
      <ActionMenu name="More actions" actions={allowed.slice(shown.length)} />
    </>
  );
}
