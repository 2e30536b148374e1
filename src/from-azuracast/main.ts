import { abortOnInterrupt } from '../runtime/abort-on-interrupt.ts'
import { processContext } from '../runtime/command-context.ts'
import { migrateCommand } from './command.ts'

process.exitCode = await migrateCommand(processContext, abortOnInterrupt())
