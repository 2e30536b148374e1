import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { killOnExit } from './children.ts'
import { programCommand } from './program.ts'

/**
 * Measures one choice of the AutoDJ, and a simulated week: `npm run bench -- autodj`. Both are printed by
 * `npm run simulate`.
 */
export async function autodj(): Promise<void> {
  for (const options of [['--bench'], []]) {
    const [command, ...args] = programCommand('src/simulate/main.js')
    const child = spawn(command, [...args, ...options], { stdio: 'inherit' })
    killOnExit(child)
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`npm run simulate exited with code ${code}`)
  }
}
