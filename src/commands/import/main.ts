import { abortOnInterrupt } from '../../platform/process/abort-on-interrupt.ts'
import { processContext } from '../../platform/process/command-context.ts'
import { importCommand } from './import-command.ts'

process.exitCode = await importCommand(processContext, abortOnInterrupt())
