import type { FileType } from '../files/inode.ts';

/** A filesystem as a few objects: the reference for the real one. */
export interface ModelNode {
  /** The same in copies of the model. */
  readonly id: number;
  readonly type: FileType;
  mode: number;
  uid: number;
  gid: number;
  links: number;
  content: Buffer;
  isArchived: boolean;
  readonly target: string;
  readonly entries: Map<string, ModelNode>;
  readonly xattrs: Map<string, string>;
}

export type Operation =
  | { readonly kind: 'create'; readonly path: string; readonly type: FileType; readonly target: string }
  | { readonly kind: 'link' | 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'unlink' | 'rmdir'; readonly path: string }
  | { readonly kind: 'write'; readonly path: string; readonly offset: number; readonly data: Buffer }
  | { readonly kind: 'truncate'; readonly path: string; readonly size: number }
  | { readonly kind: 'punch'; readonly path: string; readonly offset: number; readonly length: number }
  | { readonly kind: 'preallocate'; readonly path: string; readonly offset: number; readonly length: number }
  | { readonly kind: 'archive'; readonly path: string }
  | { readonly kind: 'recall'; readonly path: string; readonly ends: 'finished' | 'abandoned' | 'open' }
  | { readonly kind: 'chmod'; readonly path: string; readonly mode: number }
  | { readonly kind: 'chown'; readonly path: string; readonly uid: number; readonly gid: number }
  | { readonly kind: 'xattr'; readonly path: string; readonly name: string; readonly value: string | undefined };

export class FilesystemModel {
  root: ModelNode = newNode('directory', '');

  copy(): FilesystemModel {
    const copies = new Map<ModelNode, ModelNode>();
    const copyOf = (node: ModelNode): ModelNode => {
      const known = copies.get(node);
      if (known !== undefined) return known;
      const copy = { ...node, entries: new Map<string, ModelNode>(), xattrs: new Map(node.xattrs) };
      copies.set(node, copy);
      for (const [name, child] of node.entries) copy.entries.set(name, copyOf(child));
      return copy;
    };
    const model = new FilesystemModel();
    model.root = copyOf(this.root);
    return model;
  }

  /** Every path, parents before their children. */
  paths(): Map<string, ModelNode> {
    const found = new Map<string, ModelNode>([['', this.root]]);
    const visit = (prefix: string, node: ModelNode): void => {
      for (const [name, child] of node.entries) {
        found.set(`${prefix}/${name}`, child);
        visit(`${prefix}/${name}`, child);
      }
    };
    visit('', this.root);
    return found;
  }

  /** Returns the expected error. */
  apply(operation: Operation): string | undefined {
    switch (operation.kind) {
      case 'create':
        return this.#create(operation);
      case 'link':
        return this.#link(operation.path, operation.to);
      case 'rename':
        return this.#rename(operation.path, operation.to);
      case 'unlink':
      case 'rmdir':
        return this.#remove(operation.path, operation.kind === 'rmdir');
      default:
        return this.#change(operation);
    }
  }

  find(path: string): ModelNode | undefined {
    let node: ModelNode | undefined = this.root;
    for (const name of path.split('/').slice(1)) node = node?.entries.get(name);
    return node;
  }

  #parentOf(path: string): { parent: ModelNode; name: string } | string {
    const slash = path.lastIndexOf('/');
    const parent = this.find(path.slice(0, slash));
    if (parent === undefined) return 'ENOENT';
    return parent.type === 'directory' ? { parent, name: path.slice(slash + 1) } : 'ENOTDIR';
  }

  #create({ path, type, target }: { path: string; type: FileType; target: string }): string | undefined {
    const place = this.#parentOf(path);
    if (typeof place === 'string') return place;
    if (place.parent.entries.has(place.name)) return 'EEXIST';
    place.parent.entries.set(place.name, newNode(type, target));
    if (type === 'directory') place.parent.links += 1;
    return undefined;
  }

  #link(path: string, to: string): string | undefined {
    const node = this.find(path);
    if (node === undefined) return 'ENOENT';
    const place = this.#parentOf(to);
    if (typeof place === 'string') return place;
    if (node.type === 'directory') return 'EPERM';
    if (place.parent.entries.has(place.name)) return 'EEXIST';
    place.parent.entries.set(place.name, node);
    node.links += 1;
    return undefined;
  }

  #remove(path: string, isDirectory: boolean): string | undefined {
    const place = this.#parentOf(path);
    if (typeof place === 'string') return place;
    const node = place.parent.entries.get(place.name);
    if (node === undefined) return 'ENOENT';
    if (isDirectory && node.type !== 'directory') return 'ENOTDIR';
    if (!isDirectory && node.type === 'directory') return 'EISDIR';
    if (node.entries.size > 0) return 'ENOTEMPTY';
    place.parent.entries.delete(place.name);
    node.links -= 1;
    if (isDirectory) place.parent.links -= 1;
    return undefined;
  }

  #rename(path: string, to: string): string | undefined {
    const from = this.#parentOf(path);
    if (typeof from === 'string') return from;
    const target = this.#parentOf(to);
    if (typeof target === 'string') return target;
    const node = from.parent.entries.get(from.name);
    if (node === undefined) return 'ENOENT';
    const victim = target.parent.entries.get(target.name);
    if (victim === node) return undefined;
    const isDirectory = node.type === 'directory';
    if (isDirectory && from.parent !== target.parent && `${to}/`.startsWith(`${path}/`)) return 'EINVAL';
    if (victim !== undefined && isDirectory && victim.type !== 'directory') return 'ENOTDIR';
    if (victim !== undefined && !isDirectory && victim.type === 'directory') return 'EISDIR';
    if (victim !== undefined && victim.entries.size > 0) return 'ENOTEMPTY';
    from.parent.entries.delete(from.name);
    target.parent.entries.set(target.name, node);
    if (victim !== undefined) victim.links -= 1;
    if (!isDirectory) return undefined;
    from.parent.links -= 1;
    if (victim === undefined) target.parent.links += 1;
    return undefined;
  }

  #change(
    operation: Extract<
      Operation,
      { kind: 'write' | 'truncate' | 'punch' | 'preallocate' | 'chmod' | 'chown' | 'xattr' | 'archive' | 'recall' }
    >,
  ): string | undefined {
    const node = this.find(operation.path);
    if (node === undefined) return 'ENOENT';
    if (operation.kind === 'chmod') node.mode = operation.mode;
    if (operation.kind === 'chown') {
      node.uid = operation.uid;
      node.gid = operation.gid;
    }
    if (operation.kind === 'xattr') return changeXattr(node, operation.name, operation.value);
    if (operation.kind === 'chmod' || operation.kind === 'chown') return undefined;
    if (node.type === 'directory') return 'EISDIR';
    if (node.type !== 'file') return 'EINVAL';
    if (operation.kind === 'archive') node.isArchived = true;
    else if (operation.kind === 'recall') return recall(node, operation.ends);
    else return changeContent(node, operation);
    return undefined;
  }
}

function recall(node: ModelNode, ends: 'finished' | 'abandoned' | 'open'): string | undefined {
  if (!node.isArchived) return 'ESTALE';
  if (ends === 'finished') node.isArchived = false;
  return undefined;
}

function changeContent(
  node: ModelNode,
  operation: Extract<Operation, { kind: 'write' | 'truncate' | 'punch' | 'preallocate' }>,
): string | undefined {
  const cutsOff = operation.kind === 'truncate' && operation.size === 0;
  if (node.isArchived && !cutsOff) return 'EARCHIVED';
  node.isArchived = false;
  node.content = contentAfter(node.content, operation);
  return undefined;
}

function contentAfter(
  content: Buffer,
  operation: Extract<Operation, { kind: 'write' | 'truncate' | 'punch' | 'preallocate' }>,
): Buffer {
  if (operation.kind === 'truncate') return Buffer.concat([content], operation.size);
  if (operation.kind === 'preallocate') {
    return Buffer.concat([content], Math.max(content.length, operation.offset + operation.length));
  }
  if (operation.kind !== 'write') {
    const after = Buffer.from(content);
    const end = Math.min(operation.offset + operation.length, content.length);
    return operation.offset < end ? after.fill(0, operation.offset, end) : after;
  }
  const { offset, data } = operation;
  const after = Buffer.concat([content], Math.max(content.length, offset + data.length));
  data.copy(after, offset);
  return after;
}

function changeXattr(node: ModelNode, name: string, value: string | undefined): string | undefined {
  if (node.type !== 'file' && node.type !== 'directory') return 'EPERM';
  if (value !== undefined) node.xattrs.set(name, value);
  else if (!node.xattrs.delete(name)) return 'ENODATA';
  return undefined;
}

let ids = 0;

function newNode(type: FileType, target: string): ModelNode {
  return {
    id: ++ids,
    type,
    mode: type === 'symlink' ? 0o777 : 0o750,
    uid: 0,
    gid: 0,
    links: type === 'directory' ? 2 : 1,
    content: Buffer.alloc(0),
    isArchived: false,
    target,
    entries: new Map(),
    xattrs: new Map(),
  };
}
