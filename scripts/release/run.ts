/** Runs the programs by which a release is made, in the repository. It decides nothing. */

/** The folder of the repository, with a slash at its end. */
export const home = new URL('../..', import.meta.url).pathname

/** Why there is no release, as a sentence. */
export class Refused extends Error {}

/** What git prints. @throws Refused where it fails */
export function git(...words: readonly string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['git', ...words], { cwd: home })
  if (exitCode !== 0) throw new Refused(`git ${words[0]} failed: ${stderr.toString().trim()}`)
  return stdout.toString().trim()
}

/** Runs a program in the sight of the user. @throws Refused where it fails */
export function run(what: string, ...command: readonly string[]): void {
  console.log(`== ${what}: ${command.join(' ')}`)
  const { exitCode } = Bun.spawnSync([...command], { cwd: home, stdout: 'inherit', stderr: 'inherit' })
  if (exitCode !== 0) throw new Refused(`${what} failed, with exit status ${exitCode}.`)
}
