/** Paths of operations: `{name}` is one segment, `{name+}` several; and which paths a route's pattern stands for. */

const member = /\{(\w+)(\+?)\}/g

/** Names of the members that a path holds, in their order. */
export function pathMembers(path: string): readonly string[] {
  return [...path.matchAll(member)].map(([, name = '']) => name)
}

/** Matches the paths that a template stands for, a slash at the end or not; a group for each member. */
export function pathPattern(path: string): RegExp {
  return new RegExp(
    `^${path.replaceAll(member, (_, name, many) => `(?<${name}>${many ? '.+' : '[^/]+'})`)}/?$`,
  )
}

/** The router's patterns of a template: where a member may hold slashes, there is one for that as well. */
export function routerPaths(path: string): readonly string[] {
  const plain = path.replaceAll(member, (_, name) => `:${name}`)
  const open = path.indexOf('+}')
  return open < 0 ? [plain] : [plain, `${path.slice(0, path.lastIndexOf('/', open))}/*`]
}

/**
 * Whether `pathname` is one of `pattern`'s, with a slash at its end or without: the router takes both.
 * @param pattern a router's path with `:name` segments, a `*` at its end
 */
export function pathMatches(pattern: string, pathname: string): boolean {
  const wanted = pattern.split('/')
  const given = pathname.replace(/(?<=.)\/$/, '').split('/')
  const open = wanted.at(-1) === '*'
  if (open ? given.length < wanted.length : given.length !== wanted.length) return false
  return wanted.every((part, index) => part === '*' || part.startsWith(':') || part === given[index])
}
