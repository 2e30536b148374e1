import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { endWithUs } from './children.ts'
import { wordsFor } from './program.ts'

/**
 * How long one choice of the AutoDJ takes, and a week of them; the command for operators measures both
 * itself.
 */
export async function autodj(): Promise<void> {
  for (const words of [['--bench'], []]) {
    const [command, ...args] = wordsFor('src/simulate/main.js')
    const child = spawn(command, [...args, ...words], { stdio: 'inherit' })
    endWithUs(child)
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`the simulation ended with ${code}`)
  }
}
