import { processContext } from '../runtime/command-context.ts'
import { doctorCommand } from './doctor-command.ts'

process.exitCode = await doctorCommand(processContext)
