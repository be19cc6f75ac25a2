"""Has sushy, the Redfish library of Ironic, use a FAKE BMC as Ironic's redfish driver does."""
import sys

import sushy
from sushy import auth
from sushy.resources.manager import constants as manager

URL, CA, USER, PASSWORD, IMAGE = sys.argv[1:]


def check(what, got, want):
    if got != want:
        sys.exit('%s is %r, want %r' % (what, got, want))


def drive(login):
    root = sushy.Sushy(URL, auth=login, verify=CA)
    check('systems', len(root.get_system_collection().get_members()), 1)
    system = root.get_system('/redfish/v1/Systems/1')
    check('power', system.power_state, sushy.PowerState.OFF)
    check('uuid', system.uuid, '38947555-7742-3448-abcd-000000000001')
    check('memory', system.memory_summary.size_gib, 64)
    check('arch', system.processors.summary.architecture, sushy.ProcessorArchitecture.X86)
    check('MACs', len(system.ethernet_interfaces.get_members()), 2)
    check('disks', system.simple_storage.disks_sizes_bytes, [480000000000, 8000000000000])
    check('drives', len(system.storage.get_members()[0].drives), 2)
    check('secure boot', system.secure_boot.enabled, False)
    check('chassis', len(system.chassis), 1)
    check('reset types', sushy.ResetType.FORCE_OFF in system.get_allowed_reset_system_values(), True)
    check('boot sources', sushy.BootSource.PXE in system.get_allowed_system_boot_source_values(), True)

    bmc = system.managers[0]
    slots = bmc.virtual_media.get_members()
    cd = [s for s in slots if manager.VirtualMediaType.CD in s.media_types][0]
    cd.insert_media(IMAGE)
    cd.refresh()
    check('inserted', cd.inserted, True)
    check('image', cd.image, IMAGE)

    system.set_system_boot_options(sushy.BootSource.CD, mode=sushy.BootSourceOverrideMode.UEFI,
                                   enabled=sushy.BootSourceOverrideEnabled.ONCE)
    system.refresh()
    check('boot source', system.boot.target, sushy.BootSource.CD)
    system.reset_system(sushy.ResetType.ON)
    system.refresh()
    check('power', system.power_state, sushy.PowerState.ON)
    check('override after a start', system.boot.enabled, sushy.BootSourceOverrideEnabled.DISABLED)
    system.set_system_boot_options(sushy.BootSource.PXE, mode=sushy.BootSourceOverrideMode.LEGACY,
                                   enabled=sushy.BootSourceOverrideEnabled.CONTINUOUS)
    system.reset_system(sushy.ResetType.FORCE_RESTART)
    system.refresh()
    check('override that lasts', system.boot.target, sushy.BootSource.PXE)
    check('mode', system.boot.mode, sushy.BootSourceOverrideMode.LEGACY)
    cd.eject_media()
    cd.refresh()
    check('inserted', bool(cd.inserted), False)
    system.reset_system(sushy.ResetType.FORCE_OFF)
    system.refresh(force=True)
    check('power', system.power_state, sushy.PowerState.OFF)
    try:
        root.get_system('/redfish/v1/Systems/2')
        sys.exit('a system that is not there was found')
    except sushy.exceptions.ResourceNotFoundError:
        pass


drive(auth.BasicAuth(USER, PASSWORD))
session = auth.SessionAuth(USER, PASSWORD)
drive(session)
session.close()
try:
    drive(auth.BasicAuth(USER, 'wrong'))
    sys.exit('a wrong password was accepted')
except sushy.exceptions.AccessError:
    pass
print('driven')
