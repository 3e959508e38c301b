/** Reads path templates of operations, where `{name}` is one segment and `{name+}` several, and matches paths to them. */

const member = /\{(\w+)(\+?)\}/g

/** Names of the members in a path template, in their order. */
export function pathMembers(path: string): readonly string[] {
  return [...path.matchAll(member)].map(([, name = '']) => name)
}

/** Matches the paths of a template, with or without a slash at the end; a group for each member. */
export function pathPattern(path: string): RegExp {
  return new RegExp(
    `^${path.replaceAll(member, (_, name, many) => `(?<${name}>${many ? '.+' : '[^/]+'})`)}/?$`,
  )
}

/** The router's patterns of a template. A member that may hold slashes adds a pattern with `*`. */
export function routerPaths(path: string): readonly string[] {
  const plain = path.replaceAll(member, (_, name) => `:${name}`)
  const open = path.indexOf('+}')
  return open < 0 ? [plain] : [plain, `${path.slice(0, path.lastIndexOf('/', open))}/*`]
}

/**
 * Whether `pathname` matches `pattern`, with or without a slash at its end: the router accepts both.
 * @param pattern a router's path with `:name` segments, or a `*` at its end
 */
export function pathMatches(pattern: string, pathname: string): boolean {
  const wanted = pattern.split('/')
  const given = pathname.replace(/(?<=.)\/$/, '').split('/')
  const open = wanted.at(-1) === '*'
  if (open ? given.length < wanted.length : given.length !== wanted.length) return false
  return wanted.every((part, index) => part === '*' || part.startsWith(':') || part === given[index])
}
