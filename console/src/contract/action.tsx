import { Button, Menu } from '@mantine/core';
import type { Endpoint } from '@granary/contract';
import { Fragment, useRef, useState, type ReactNode } from 'react';
import { operationMark, type Op } from '../api/operations.ts';
import { useAddressText } from '../app/base.ts';
import { hasDraft } from '../app/drafts.ts';
import { useMay } from '../app/identity.tsx';
import { LazyMenu } from '../parts/lazy-menu.tsx';
import { ActionDialog } from './action-dialog.tsx';
import { draftKey } from './action-fields.ts';
import { action, colorOf, type ActionProps } from './action-props.ts';

interface ActionButtonProps<E extends Endpoint> extends ActionProps<E> {
  readonly icon?: ReactNode;
  readonly isMain?: boolean;
  readonly isSmall?: boolean;
}

/** A button that opens the form of an operation. Nothing at all where the call would be refused. */
export function ActionButton<E extends Endpoint>(props: ActionButtonProps<E>) {
  const { open, form } = useForm([action(props)]);
  return (
    <>
      <FormButton {...props} onClick={() => open(action(props))} />
      {form}
    </>
  );
}

/**
 * The form that is open, of these actions. It stays with what was typed when its action is offered no longer, as where the
 * record is in another state now, or its array is locked.
 */
function useForm(actions: readonly ActionProps<never>[]) {
  const [shown, setShown] = useState(() => actions.find((one) => hasDraft(draftKey(one))));
  const [asked, setAsked] = useAddressText('do');
  const may = useMay();
  // The palette leads to a page and has it open a form; nothing is sent before a person has seen it.
  const wanted = actions.find(
    ({ op, label, destroys, input }) => label === asked && destroys === undefined && may(op as Op, input),
  );
  const current = useRef(shown);
  const chosen = shown ?? wanted ?? (current.current?.label === asked ? current.current : undefined);
  const isChosen = ({ op, label }: ActionProps<never>) => label === chosen?.label && op.id === chosen.op.id;
  // With what was read since it was opened, such as choices.
  current.current = actions.find(isChosen) ?? chosen;
  const close = () => {
    setShown(undefined);
    if (current.current?.label === asked) setAsked('');
  };
  return { open: setShown, form: current.current && <ActionDialog {...current.current} close={close} /> };
}

/** The actions of one record: some as buttons, the others behind one. */
export function ActionBar(props: {
  readonly buttons: readonly ActionProps<never>[];
  readonly menu: readonly ActionProps<never>[];
  /** Of the button for the menu. */
  readonly label: string;
  readonly isMain?: boolean;
}) {
  const { buttons, menu, label, isMain = false } = props;
  const { open, form } = useForm(buttons);
  return (
    <>
      {buttons.map((one) => (
        <FormButton key={one.label} {...one} isMain={isMain} onClick={() => open(one)} />
      ))}
      <ActionMenu label={label} isButton actions={menu} />
      {form}
    </>
  );
}

/** The button alone, where the form has to outlive what the button stands in. */
export function FormButton<E extends Endpoint>(props: ActionButtonProps<E> & { readonly onClick: () => void }) {
  const may = useMay();
  if (!may(props.op, props.input)) return null;
  return (
    <Button
      onClick={props.onClick}
      leftSection={props.icon}
      size={props.isSmall ? 'xs' : 'sm'}
      variant={props.isMain ? 'filled' : 'default'}
      color={colorOf(props)}
      {...operationMark(props.op, props.input)}
    >
      {props.label}
    </Button>
  );
}

/** The actions of one record behind one button. */
export function ActionMenu({
  label,
  actions,
  isButton = false,
}: {
  readonly label: string;
  /** With its word, where there is room. */
  readonly isButton?: boolean;
  readonly actions: readonly ActionProps<never>[];
}) {
  const [open, setOpen] = useState(() => actions.find((action) => hasDraft(draftKey(action))));
  const may = useMay();
  const allowed = actions.filter(({ op, input }) => may(op as Op, input));
  if (allowed.length === 0 && !open) return null;
  return (
    <>
      {allowed.length > 0 && (
        <LazyMenu
          label={label}
          isButton={isButton}
          items={() =>
            [...Map.groupBy(allowed, ({ section }) => section)].map(([section, all]) => (
              <Fragment key={section ?? ''}>
                {section !== undefined && <Menu.Label>{section}</Menu.Label>}
                {all.map((action) => (
                  <Menu.Item
                    key={action.label}
                    color={colorOf(action)}
                    onClick={() => setOpen(action)}
                    {...operationMark(action.op as Op, action.input)}
                  >
                    {action.label}
                  </Menu.Item>
                ))}
              </Fragment>
            ))
          }
        />
      )}
      {open && <ActionDialog {...open} close={() => setOpen(undefined)} />}
    </>
  );
}
