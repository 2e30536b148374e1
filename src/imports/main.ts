import { abortOnInterrupt } from '../runtime/abort-on-interrupt.ts'
import { processContext } from '../runtime/command-context.ts'
import { importCommand } from './import-command.ts'

process.exitCode = await importCommand(processContext, abortOnInterrupt())
