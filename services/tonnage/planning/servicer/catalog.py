"""CatalogService."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tonnage.planning.codec import catalog as catalog_codec
from tonnage.planning.usecase import catalog

if TYPE_CHECKING:
    import grpc.aio

    from tonnage.v1 import catalog_service_pb2 as pb

    Context = grpc.aio.ServicerContext[Any, Any]

REPEATED: Final = ("ListModels", "GetModel", "ListAccelerators")


class CatalogServicer:
    """Shows facts that ship with the product."""

    def ListModels(self, request: pb.ListModelsRequest, _context: Context) -> pb.ListModelsResponse:  # noqa: N802 -- the name in the proto
        """List catalog models, by id."""
        asked = catalog_codec.decode_list(request)
        return catalog_codec.encode_models(catalog.models_page(asked))

    def GetModel(self, request: pb.GetModelRequest, _context: Context) -> pb.GetModelResponse:  # noqa: N802 -- the name in the proto
        """Show one model, from the catalog or from a config.json."""
        name, config_json = catalog_codec.decode_model_source(request)
        return catalog_codec.encode_one_model(*catalog.model(name, config_json))

    def ListAccelerators(  # noqa: N802 -- the name in the proto
        self, request: pb.ListAcceleratorsRequest, _context: Context
    ) -> pb.ListAcceleratorsResponse:
        """List catalog accelerators, by id."""
        asked = catalog_codec.decode_list(request)
        return catalog_codec.encode_accelerators(catalog.accelerators_page(asked))
