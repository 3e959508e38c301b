/** Which paths a route's pattern stands for, to tell a wrong method (405) from a wrong path (404). */

/**
 * Whether `pathname` is one of `pattern`'s, with a slash at its end or without: the router takes both.
 * @param pattern a route's path with `:name` segments, a `*` at its end
 */
export function pathMatches(pattern: string, pathname: string): boolean {
  const wanted = pattern.split('/')
  const given = pathname.replace(/(?<=.)\/$/, '').split('/')
  const open = wanted.at(-1) === '*'
  if (open ? given.length < wanted.length : given.length !== wanted.length) return false
  return wanted.every((part, index) => part === '*' || part.startsWith(':') || part === given[index])
}
