/**
 * Stands in for `docker compose` where no container engine is: it runs the command of `exec` on this machine, with the
 * settings of the service and the addresses of the programs that stand for the containers. It knows `up` and `exec` of
 * docs/compose.md only.
 */

interface World {
  readonly services: Readonly<Record<string, { readonly env: Record<string, string>; readonly cwd: string }>>
  /** What stands in the commands, and what it is here. */
  readonly addresses: Readonly<Record<string, string>>
}

const world = JSON.parse(process.env.STAND_IN ?? '{}') as World
const words = process.argv.slice(2)
if (words.join(' ') === 'compose up --build --detach --wait') process.exit(0)

const here = (text: string) =>
  Object.entries(world.addresses).reduce((all, [there, address]) => all.replaceAll(there, address), text)

if (words.splice(0, 3).join(' ') !== 'compose exec -T') throw new Error(`no stand-in for ${words.join(' ')}`)
const given: Record<string, string> = {}
while (words[0] === '-e') {
  const [, setting = ''] = words.splice(0, 2)
  given[setting.slice(0, setting.indexOf('='))] = setting.slice(setting.indexOf('=') + 1)
}
const service = world.services[words.shift() ?? '']
if (service === undefined) throw new Error('no such service')
const [program = '', ...args] = words
const child = Bun.spawn([program === 'bun' ? process.execPath : program, ...args.map(here)], {
  cwd: service.cwd,
  env: { PATH: process.env.PATH ?? '', ...service.env, ...given },
  stdin: args.includes('-') ? new Blob([here(await Bun.stdin.text())]) : 'ignore',
  stdout: 'inherit',
  stderr: 'inherit',
})
process.exit(await child.exited)

export {}
